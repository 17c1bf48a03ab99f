#!/bin/bash
# Real OpenSSH servers on 127.0.0.1, each a host with users, sudo, /tmp and processes of its own.
#   hosts.sh start DIR     starts them and writes DIR/lab.json: all that a client needs to know
#   hosts.sh stop DIR      ends what start started; DIR stays, for its logs
#   hosts.sh status DIR    says which are up
#   hosts.sh reboot DIR/HOST   ends all that runs on a host; its SSH server is there again a second later
# README.md tells what a host is made of, and how they differ.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/machines.sh"

HOSTS="h1 h2 h3 h4 h5 bastion closed fenced narrow single"
RUNNER_PASSWORD=host-canary-runner
WORKER_PASSWORD=host-canary-worker
PASSPHRASE=host-canary-passphrase

SERVE="env -i PATH=$PATH /usr/sbin/sshd -f /mnt/etc/sshd.conf -E /mnt/log/sshd.log"

# ---- inside a host's namespaces -------------------------------------------------------------------------------

# The host's first process. Its folder is /mnt here, because it may lie below the /tmp that it gets.
host_init() {
    local D=$1 name=$2 file
    set -e
    mount --make-rprivate /
    hostname "$name"
    mount --bind "$D" /mnt
    for file in passwd shadow group hosts sudoers; do mount --bind "/mnt/etc/$file" "/etc/$file"; done
    mount -t tmpfs -o mode=755 sudoers.d /etc/sudoers.d
    mount --bind /mnt/tmp /tmp
    mount -t tmpfs -o size=16k,mode=1777 small /mnt/small
    # What it inherits would reach every login.
    $SERVE
    # As process 1 it reaps what loses its parent.
    while :; do sleep 3600 & wait $! || :; done
}

# ---- outside --------------------------------------------------------------------------------------------------

# particular NAME: what sshd is told for this host alone; sshd takes the first value it sees.
particular() {
    case $1 in
    h3) echo "MaxSessions 2" ;;
    h4) return ;;
    h5) cat <<X
HostCertificate /mnt/etc/host_ed25519-cert.pub
TrustedUserCAKeys /mnt/etc/user_ca.pub
AuthorizedKeysFile none
PasswordAuthentication no
X
        ;;
    bastion) echo "LogLevel DEBUG1" ;;
    closed) echo "AllowTcpForwarding no" ;;
    fenced) echo "PermitOpen 192.0.2.1:22" ;;
    narrow) echo "MaxSessions 0" ;;
    single) echo "MaxSessions 1" ;;
    esac
    echo "Subsystem sftp internal-sftp"
}

# make_host NAME: its files, under DIR/NAME; sets PORT.
make_host() {
    local D=$DIR/$1
    rm -rf "$D"
    mkdir -p "$D"/{etc,log,home,tmp,run,small}
    chmod 1777 "$D/tmp"
    cp /etc/passwd /etc/group "$D/etc/"
    grep -E '^(root|sshd|nobody):' /etc/shadow >"$D/etc/shadow"
    chmod 600 "$D/etc/shadow"
    add_user "$D" runner 7101 7101 /mnt/home/runner /bin/bash "$RUNNER_PASSWORD"
    add_user "$D" worker 7102 7102 /mnt/home/worker /bin/sh "$WORKER_PASSWORD"
    printf '127.0.0.1 localhost %s\n' "$1" >"$D/etc/hosts"
    # h2 explains itself before it asks, as sudo does the first time that a user meets it.
    cat >"$D/etc/sudoers" <<X
Defaults !syslog, timestamp_timeout=0, lecture=$([ "$1" = h2 ] && echo always || echo never)
root ALL=(ALL) ALL
runner ALL=(worker) NOPASSWD: ALL
runner ALL=(root) ALL
X
    chmod 440 "$D/etc/sudoers"
    ssh-keygen -q -t ed25519 -N '' -C "$1" -f "$D/etc/host_ed25519"
    take_port
    if [ "$1" = h5 ]; then
        cp "$DIR/user_ca.pub" "$D/etc/"
        ssh-keygen -q -s "$DIR/host_ca" -h -I "$1" -n 127.0.0.1,localhost -V -1h:+1w "$D/etc/host_ed25519.pub"
        echo "@cert-authority [127.0.0.1]:$PORT $(cut -d' ' -f1,2 "$DIR/host_ca.pub")" >>"$DIR/known_hosts"
    else
        echo "[127.0.0.1]:$PORT $(cut -d' ' -f1,2 "$D/etc/host_ed25519.pub")" >>"$DIR/known_hosts"
    fi
    {
        particular "$1"
        cat <<X
ListenAddress 127.0.0.1:$PORT
PidFile /mnt/run/sshd.pid
HostKey /mnt/etc/host_ed25519
UsePAM no
PasswordAuthentication yes
KbdInteractiveAuthentication no
PermitRootLogin no
AllowUsers runner worker
StrictModes no
PrintMotd no
PrintLastLog no
LogLevel VERBOSE
UseDNS no
MaxStartups 500
X
    } >"$D/etc/sshd.conf"
}

host_json() { # NAME
    local D=$DIR/$1 sessions=10 sftp=true
    [ "$1" = h3 ] && sessions=2
    [ "$1" = h4 ] && sftp=false
    cat <<X
    {
      "name": "$1",
      "dir": "$D",
      "tmp": "$D/tmp",
      "home": "$D/home/runner",
      "log": "$D/log/sshd.log",
      "process": "$D/process",
      "host": "127.0.0.1",
      "port": $PORT,
      "max_sessions": $sessions,
      "sftp": $sftp
    }
X
}

lab_json() { # HOSTS
    cat <<X
{
  "dir": "$DIR",
  "fault": "$here/hosts.sh",
  "user": "runner",
  "password": "$RUNNER_PASSWORD",
  "users": {
    "runner": { "uid": 7101, "password": "$RUNNER_PASSWORD" },
    "worker": { "uid": 7102, "password": "$WORKER_PASSWORD" }
  },
  "private_key": "$DIR/id_ed25519",
  "rsa_key": "$DIR/id_rsa",
  "encrypted_key": "$DIR/id_encrypted",
  "passphrase": "$PASSPHRASE",
  "certified_key": "$DIR/certified",
  "known_hosts": "$DIR/known_hosts",
  "hosts": [
$1
  ]
}
X
}

# ready NAME: its SSH server says its banner.
ready() {
    local D=$DIR/$1 banner=
    noted "$D/process" >/dev/null || { tail -n 20 "$D"/log/*.log >&2; die "$1 ended while it started (logs: $D/log)"; }
    [ -s "$D/run/sshd.pid" ] || return 1
    read -r -t 2 banner 2>/dev/null <"/dev/tcp/127.0.0.1/$(ports_of "$D")"
    case $banner in SSH-2.0*) ;; *) return 1 ;; esac
}


make_keys() {
    rm -f "$DIR"/id_* "$DIR"/certified* "$DIR"/{user,host}_ca*
    ssh-keygen -q -t ed25519 -N '' -C lab -f "$DIR/id_ed25519"
    ssh-keygen -q -t rsa -b 2048 -N '' -C lab -f "$DIR/id_rsa"
    ssh-keygen -q -t ed25519 -N "$PASSPHRASE" -C lab -f "$DIR/id_encrypted"
    ssh-keygen -q -t ed25519 -N '' -C lab -f "$DIR/certified"
    ssh-keygen -q -t ed25519 -N '' -C user-ca -f "$DIR/user_ca"
    ssh-keygen -q -t ed25519 -N '' -C host-ca -f "$DIR/host_ca"
    ssh-keygen -q -s "$DIR/user_ca" -I lab -n runner -V -1h:+1w "$DIR/certified.pub"
    : >"$DIR/known_hosts"
}

start() {
    local name hosts=
    need sshd openssh-server; need ssh-keygen openssh-client; need openssl openssl
    need sudo sudo; need nsenter util-linux; need ss iproute2
    unshare --mount --uts --pid --fork true || die "no namespaces here: run as root with CAP_SYS_ADMIN"
    stop
    mkdir -p /run/sshd # sshd wants it, and the package leaves it to the init system
    claim_ports
    make_keys
    for name in $HOSTS; do
        make_host "$name"
        hosts+="${hosts:+,
}$(host_json "$name")"
        open_machine "$name"
    done
    # shellcheck disable=SC2086 # one word a host
    await_machines $HOSTS
    lab_json "$hosts" >"$DIR/lab.json"
    say "$(echo $HOSTS | wc -w) hosts are ready after $SECONDS s: $DIR/lab.json"
}

stop() { end_machines; }

# A fault of one host, which is DIR here.
reboot() {
    local outer inner
    outer=$(noted "$DIR/process") || die "$DIR is not up"
    inner=$(cat "/proc/$outer/task/$outer/children") && inner=${inner% }
    rm -f "$DIR/run/sshd.pid"
    # Everything but the first process is killed.
    nsenter --mount --uts --pid --target "$inner" bash -c "kill -KILL -1; sleep 1; exec $SERVE"
    wait_for 10 test -s "$DIR/run/sshd.pid" || die "the SSH server does not start"
}

case ${1:-} in
__init) host_init "$2" "$3" ;;
start | stop | status | reboot) machine_verbs "$@" ;;
*) die "usage: $0 start|stop|status DIR, or reboot DIR/HOST" ;;
esac
