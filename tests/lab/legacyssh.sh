#!/bin/bash
# SSH servers as old or strict devices have them: OpenSSH cut down to few algorithms, one server a profile, and dropbear.
#   legacyssh.sh start DIR     starts them and writes DIR/lab.json: all that a client needs to know
#   legacyssh.sh stop DIR      ends what start started; DIR stays, for its logs
#   legacyssh.sh status DIR    says whether they are up
# README.md tells which profiles there are.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

PROFILES="g14sha1 g1sha1 cbc 3des rsasha1 gexsha1 sha196 md5 dss modern kbdint nopass slow dropbear"
PASSWORD=lab-canary-legacy

# ---- inside the servers' namespaces ---------------------------------------------------------------------------

# The first process: users of its own, then the servers. With it everything ends.
init() {
    local D=$1 file profile
    set -e
    mount --make-rprivate /
    for file in passwd shadow group; do mount --bind "$D/etc/$file" "/etc/$file"; done
    for profile in $PROFILES; do
        if [ "$profile" = dropbear ]; then
            dropbear -E -r "$D/etc/dropbear_rsa" -p "127.0.0.1:$(cat "$D/etc/dropbear.port")" -P "$D/run/dropbear.pid" 2>>"$D/log/dropbear.log"
        else
            /usr/sbin/sshd -f "$D/etc/$profile.conf" -E "$D/log/$profile.log"
        fi
    done
    # As process 1 it reaps what loses its parent.
    while :; do sleep 3600 & wait $!; done
}

# ---- outside --------------------------------------------------------------------------------------------------

# particular PROFILE: what its server is told beside the rest; sshd takes the first value it sees.
particular() {
    local sha1="HostKeyAlgorithms ssh-rsa
HostKey $DIR/etc/host_rsa"
    case $1 in
    g14sha1) printf '%s\n' "$sha1" "KexAlgorithms diffie-hellman-group14-sha1" "Ciphers aes128-ctr" "MACs hmac-sha1" ;;
    g1sha1) printf '%s\n' "$sha1" "KexAlgorithms diffie-hellman-group1-sha1" "Ciphers aes128-cbc" "MACs hmac-sha1" ;;
    cbc) printf '%s\n' "$sha1" "KexAlgorithms diffie-hellman-group14-sha1" "Ciphers aes128-cbc,aes256-cbc" "MACs hmac-sha1" ;;
    3des) printf '%s\n' "$sha1" "KexAlgorithms diffie-hellman-group1-sha1" "Ciphers 3des-cbc" "MACs hmac-sha1" ;;
    rsasha1) printf '%s\n' "$sha1" "PubkeyAcceptedAlgorithms ssh-rsa" ;;
    gexsha1) printf '%s\n' "$sha1" "KexAlgorithms diffie-hellman-group-exchange-sha1" "Ciphers aes256-cbc" "MACs hmac-sha1" ;;
    sha196) printf '%s\n' "$sha1" "KexAlgorithms diffie-hellman-group-exchange-sha1" "Ciphers aes256-cbc" "MACs hmac-sha1-96" ;;
    md5) printf '%s\n' "$sha1" "KexAlgorithms diffie-hellman-group14-sha1" "Ciphers 3des-cbc" "MACs hmac-md5,hmac-md5-96" ;;
    dss) printf '%s\n' "HostKeyAlgorithms ssh-dss" "HostKey $DIR/etc/host_dsa" "KexAlgorithms diffie-hellman-group1-sha1" "Ciphers 3des-cbc" "MACs hmac-sha1" ;;
    modern) printf '%s\n' "HostKey $DIR/etc/host_ed25519" "KexAlgorithms curve25519-sha256" "Ciphers chacha20-poly1305@openssh.com" ;;
    kbdint) printf '%s\n' "HostKey $DIR/etc/host_rsa" "UsePAM yes" "PasswordAuthentication no" "KbdInteractiveAuthentication yes" ;;
    nopass) printf '%s\n' "HostKey $DIR/etc/host_rsa" "PasswordAuthentication no" ;;
    slow) printf '%s\n' "HostKey $DIR/etc/host_rsa" "LoginGraceTime 5" "MaxStartups 2" "MaxAuthTries 2" ;;
    esac
}

# make_server PROFILE: its configuration; sets PORT.
make_server() {
    local key
    take_port
    for key in rsa ed25519 dsa; do
        echo "[127.0.0.1]:$PORT $(cut -d' ' -f1,2 "$DIR/etc/host_$key.pub")" >>"$DIR/known_hosts"
    done
    if [ "$1" = dropbear ]; then
        echo "$PORT" >"$DIR/etc/dropbear.port"
        echo "[127.0.0.1]:$PORT $(dropbearkey -y -f "$DIR/etc/dropbear_rsa" | grep '^ssh-rsa' | cut -d' ' -f1,2)" >>"$DIR/known_hosts"
        return
    fi
    {
        particular "$1"
        cat <<X
ListenAddress 127.0.0.1:$PORT
PidFile $DIR/run/$1.pid
UsePAM no
PasswordAuthentication yes
KbdInteractiveAuthentication no
PermitRootLogin no
AllowUsers admin
StrictModes no
PrintMotd no
PrintLastLog no
UseDNS no
X
    } >"$DIR/etc/$1.conf"
    /usr/sbin/sshd -t -f "$DIR/etc/$1.conf" || die "sshd refuses the configuration $DIR/etc/$1.conf"
}

make_user() {
    local home=$DIR/home/admin
    mkdir -p "$home/.ssh"
    cp /etc/passwd /etc/group "$DIR/etc/"
    grep -E '^(root|sshd|nobody):' /etc/shadow >"$DIR/etc/shadow"
    chgrp shadow "$DIR/etc/shadow"
    chmod 640 "$DIR/etc/shadow"
    echo "admin:x:7201:7201:lab:$home:/bin/sh" >>"$DIR/etc/passwd"
    echo "admin:x:7201:" >>"$DIR/etc/group"
    echo "admin:$(openssl passwd -6 "$PASSWORD"):19000:0:99999:7:::" >>"$DIR/etc/shadow"
    cat "$DIR"/id_*.pub >"$home/.ssh/authorized_keys"
    echo "PS1='old-switch# '" >"$home/.profile"
    chown -R 7201:7201 "$home"
    chmod -R go= "$home"
}

make_keys() {
    local type
    for type in rsa ed25519; do
        ssh-keygen -q -t $type -N '' -C lab -f "$DIR/id_$type"
        ssh-keygen -q -t $type -N '' -C old-switch -f "$DIR/etc/host_$type"
    done
    ssh-keygen -q -t dsa -N '' -C old-switch -f "$DIR/etc/host_dsa" || die "ssh-keygen makes no DSA key: the lab needs OpenSSH before 10"
    dropbearkey -t rsa -s 2048 -f "$DIR/etc/dropbear_rsa" >/dev/null 2>&1 || die "dropbearkey makes no key"
}

lab_json() { # PORTS
    cat <<X
{
  "dir": "$DIR",
  "host": "127.0.0.1",
  "user": "admin",
  "password": "$PASSWORD",
  "rsa_key": "$DIR/id_rsa",
  "private_key": "$DIR/id_ed25519",
  "known_hosts": "$DIR/known_hosts",
  "ports": { $1 }
}
X
}

ports() { ports_of "$DIR"; cat "$DIR/etc/dropbear.port" 2>/dev/null; }

# ready PORT: its server says its banner.
ready() {
    local banner=
    noted "$DIR/process" >/dev/null || { tail -n 20 "$DIR"/log/*.log >&2; die "the servers ended while they started (logs: $DIR/log)"; }
    read -r -t 2 banner 2>/dev/null <"/dev/tcp/127.0.0.1/$1"
    case $banner in SSH-2.0*) ;; *) return 1 ;; esac
}

start() {
    local profile port json=
    need sshd openssh-server; need ssh-keygen openssh-client; need openssl openssl; need ss iproute2
    need dropbear dropbear-bin; need dropbearkey dropbear-bin
    unshare --mount --uts --pid --fork true || die "no namespaces here: run as root with CAP_SYS_ADMIN"
    stop
    rm -rf "$DIR"/{etc,run,log,home} "$DIR"/id_*
    mkdir -p /run/sshd "$DIR"/{etc,run,log,home} # sshd wants the first, and the package leaves it to the init system
    # Another lab that starts at the same time must not take the ports found free here.
    mkdir -p "$TAKEN"
    exec 9>"$TAKEN.lock"
    flock 9
    make_keys
    make_user
    : >"$DIR/known_hosts"
    for profile in $PROFILES; do
        make_server "$profile"
        json+="${json:+, }\"$profile\": $PORT"
    done
    setsid unshare --mount --uts --pid --fork --mount-proc --kill-child "$0" __init "$DIR" \
        >>"$DIR/log/init.log" 2>&1 </dev/null 9>&- &
    note_process $! "$DIR/process"
    for port in $(ports); do cp "$DIR/process" "$TAKEN/$port"; done
    for port in $(ports); do
        wait_for 60 ready "$port" || { tail -n 20 "$DIR"/log/*.log >&2; die "port $port is not ready (logs: $DIR/log)"; }
    done
    lab_json "$json" >"$DIR/lab.json"
    say "$(echo $PROFILES | wc -w) servers are ready after $SECONDS s: $DIR/lab.json"
}

# Ends what start started: one process namespace, which the kernel ends with its first process.
stop() {
    local pid port
    if pid=$(noted "$DIR/process"); then
        kill -KILL "$pid"
        wait_for 10 gone "$pid" || say "process $pid does not end"
        for port in $(ports); do rm -f "$TAKEN/$port"; done
    fi
    rm -f "$DIR/process" "$DIR/lab.json"
}

status() { noted "$DIR/process" >/dev/null && echo "legacyssh up" || echo "legacyssh down"; }

case ${1:-} in
__init) init "$2" ;;
start | stop | status)
    need_root
    [ -n "${2:-}" ] || die "usage: $0 $1 DIR"
    mkdir -p "$2" && DIR=$(cd "$2" && pwd -P) || die "cannot make $2"
    chmod 755 "$DIR" # the user must reach the home
    "$1"
    ;;
*) die "usage: $0 start|stop|status DIR" ;;
esac
