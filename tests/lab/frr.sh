#!/bin/bash
# Real FRR routers d1..dN, each behind its own OpenSSH servers on 127.0.0.1 with vtysh as the login shell.
#   frr.sh start DIR     starts FRR_N (4) of them and writes DIR/lab.json: all that a client needs to know
#   frr.sh stop DIR      ends what start started; DIR stays, for its logs
#   frr.sh status DIR    says which are up
#   frr.sh renew DIR/dN  makes one what it was when it was started, if it is anything else
# README.md tells what a device is made of.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/machines.sh"

N=${FRR_N:-4}
DAEMONS="zebra staticd bgpd"
SERVERS="ssh keyboard_interactive legacy"
ADMIN_PASSWORD=lab-canary-pass
OPER_PASSWORD=lab-canary-oper
TELNET_USER_PASSWORD=lab-canary-vty-user
VTY_PASSWORD=lab-canary-vty
ENABLE_PASSWORD=lab-canary-enable

# ---- inside a device's namespaces -----------------------------------------------------------------------------

# The device's first process: its own hostname, users and files, then its SSH servers. With it everything ends.
device_init() {
    local D=$1 name=$2 file server
    set -e
    mount --make-rprivate /
    hostname "$name"
    mkdir -p /run/frr
    for file in passwd shadow group frr; do mount --bind "$D/etc/$file" "/etc/$file"; done
    mount --bind "$D/run" /run/frr
    unshare --net "$0" __daemons "$D" >>"$D/log/daemons.log" 2>&1 </dev/null &
    wait_for 20 test -e "$D/run/configured"
    for server in $SERVERS; do
        /usr/sbin/sshd -f "$D/etc/$server.conf" -E "$D/log/$server.log"
    done
    socat TCP-LISTEN:"$(cat "$D/etc/vty.port")",bind=127.0.0.1,reuseaddr,fork UNIX-CONNECT:/run/frr/zebra.telnet &
    # As process 1 it reaps what loses its parent.
    while :; do sleep 3600 & wait $!; done
}

# The routing daemons, in a network namespace of their own with two ports, swp1 and swp2, wired to each other.
device_daemons() {
    local D=$1 daemon
    set -e
    ip link set lo up
    ip link add swp1 type veth peer name swp2
    for daemon in $DAEMONS; do
        "$daemon" -d -A 127.0.0.1 --log "file:$D/log/$daemon.log"
    done
    vtysh -b
    # zebra's own command line is at a port of this namespace; a socket of the file system leads out of it.
    socat UNIX-LISTEN:/run/frr/zebra.telnet,fork TCP:127.0.0.1:2601 &
    wait_for 5 test -S /run/frr/zebra.telnet
    touch "$D/run/configured"
    exec sleep infinity
}

# ---- outside --------------------------------------------------------------------------------------------------

# sshd_config D NAME PORT HOSTKEY: standard input has what is particular; sshd takes the first value it sees.
sshd_config() {
    {
        cat
        cat <<X
ListenAddress 127.0.0.1:$3
PidFile $1/run/sshd-$2.pid
HostKey $4
UsePAM no
PasswordAuthentication yes
KbdInteractiveAuthentication no
PermitRootLogin no
AllowUsers admin oper vty
StrictModes no
PrintMotd no
PrintLastLog no
UseDNS no
MaxStartups 500
MaxSessions 500
X
    } >"$1/etc/$2.conf"
    /usr/sbin/sshd -t -f "$1/etc/$2.conf" || die "sshd refuses the configuration $1/etc/$2.conf"
}

# restore_files D: what the device finds when it starts, whatever it has saved since.
restore_files() {
    rm -rf "$1"/run/* "$1"/etc/frr/*
    cp "$1/new/frr.conf" "$1/etc/frr/frr.conf"
    echo "service integrated-vtysh-config" >"$1/etc/frr/vtysh.conf"
    chown -R frr:frrvty "$1/etc/frr"
    chmod 2775 "$1/etc/frr"
    chmod 660 "$1/etc/frr"/*
}

# state D: all that a test can leave behind in a device: what it holds, and what it has saved.
state() {
    timeout 20 vtysh --vty_socket "$1/run" --config_dir "$1/etc/frr" -c 'show running-config' -c 'show interface brief' &&
        cat "$1"/etc/frr/*
}

# make_device NAME NUMBER: its files, under DIR/NAME; sets SSH_PORT, KBD_PORT, LEGACY_PORT and VTY_PORT.
make_device() {
    local D=$DIR/$1 port frrvty
    rm -rf "$D"
    mkdir -p "$D"/{etc/frr,new,run,log,home,bin}
    cp /etc/passwd /etc/group "$D/etc/"
    grep -E '^(root|sshd|frr|nobody):' /etc/shadow >"$D/etc/shadow"
    chgrp shadow "$D/etc/shadow" # vtysh's PAM account check reads it as a member of this group
    chmod 640 "$D/etc/shadow"
    printf '#!/bin/sh\nexec /usr/bin/vtysh -u "$@"\n' >"$D/bin/vtysh-view"
    chmod 755 "$D/bin/vtysh-view"
    add_user "$D" admin "$(id -u frr)" "$(id -g frr)" "$D/home/admin" /usr/bin/vtysh "$ADMIN_PASSWORD"
    take_port; VTY_PORT=$PORT
    echo "$VTY_PORT" >"$D/etc/vty.port"
    printf '#!/bin/sh\nexec telnet -E 127.0.0.1 %s\n' "$VTY_PORT" >"$D/bin/zebra-vty"
    chmod 755 "$D/bin/zebra-vty"
    frrvty=$(getent group frrvty | cut -d: -f3)
    add_user "$D" vty 7002 "$frrvty" "$D/home/vty" "$D/bin/zebra-vty" "$TELNET_USER_PASSWORD"
    add_user "$D" oper 7001 "$frrvty" "$D/home/oper" "$D/bin/vtysh-view" "$OPER_PASSWORD"

    cat >"$D/new/frr.conf" <<X
frr defaults traditional
hostname $1
password $VTY_PASSWORD
enable password $ENABLE_PASSWORD
service integrated-vtysh-config
!
interface lo
 ip address 10.255.0.$2/32
!
interface swp1
 ip address 10.0.$2.1/24
!
router bgp $((65000 + $2))
 bgp router-id 10.255.0.$2
 no bgp ebgp-requires-policy
!
X
    chown -R frr:frr "$D/run" "$D/log"
    restore_files "$D"

    ssh-keygen -q -t ed25519 -N '' -C "$1" -f "$D/etc/host_ed25519"
    take_port; SSH_PORT=$PORT
    take_port; KBD_PORT=$PORT
    take_port; LEGACY_PORT=$PORT
    sshd_config "$D" ssh "$SSH_PORT" "$D/etc/host_ed25519" </dev/null
    sshd_config "$D" keyboard_interactive "$KBD_PORT" "$D/etc/host_ed25519" <<X
UsePAM yes
PasswordAuthentication no
KbdInteractiveAuthentication yes
X
    sshd_config "$D" legacy "$LEGACY_PORT" "$DIR/host_rsa" <<X
KexAlgorithms diffie-hellman-group14-sha1,diffie-hellman-group1-sha1
HostKeyAlgorithms ssh-rsa
PubkeyAcceptedAlgorithms ssh-rsa,ssh-ed25519
Ciphers aes128-cbc,3des-cbc
MACs hmac-sha1
X
    for port in "$SSH_PORT" "$KBD_PORT"; do
        echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$D/etc/host_ed25519.pub")"
    done >>"$DIR/known_hosts"
    echo "[127.0.0.1]:$LEGACY_PORT $(cut -d' ' -f1,2 "$DIR/host_rsa.pub")" >>"$DIR/known_hosts"
}

device_json() { # NAME
    local D=$DIR/$1
    cat <<X
    {
      "name": "$1",
      "dir": "$D",
      "host": "127.0.0.1",
      "port": $SSH_PORT,
      "keyboard_interactive_port": $KBD_PORT,
      "legacy_port": $LEGACY_PORT,
      "vty_port": $VTY_PORT,
      "vtysh": ["vtysh", "--vty_socket", "$D/run", "--config_dir", "$D/etc/frr"]
    }
X
}

lab_json() { # DEVICES
    cat <<X
{
  "dir": "$DIR",
  "users": {
    "admin": { "password": "$ADMIN_PASSWORD" },
    "oper": { "password": "$OPER_PASSWORD" },
    "vty": { "password": "$TELNET_USER_PASSWORD" }
  },
  "vty_password": "$VTY_PASSWORD",
  "enable_password": "$ENABLE_PASSWORD",
  "private_key": "$DIR/id_ed25519",
  "known_hosts": "$DIR/known_hosts",
  "fault": "$here/fault.sh",
  "renew": "$here/frr.sh",
  "devices": [
$1
  ]
}
X
}

# ready NAME: each SSH server says its banner, and vtysh answers for every daemon.
ready() {
    local D=$DIR/$1 server port banner daemon answer
    noted "$D/process" >/dev/null || { tail -n 20 "$D"/log/*.log >&2; die "$1 ended while it started (logs: $D/log)"; }
    for server in $SERVERS; do
        [ -s "$D/run/sshd-$server.pid" ] || return 1
        port=$(sed -n 's/^ListenAddress .*://p' "$D/etc/$server.conf")
        banner=
        read -r -t 2 banner 2>/dev/null <"/dev/tcp/127.0.0.1/$port"
        case $banner in SSH-2.0*) ;; *) return 1 ;; esac
    done
    answer=$(timeout 5 vtysh --vty_socket "$D/run" --config_dir "$D/etc/frr" -c 'show daemons')
    for daemon in $DAEMONS; do case " $answer " in *" $daemon "*) ;; *) return 1 ;; esac; done
}

start() {
    local i name devices=
    need vtysh frr; need sshd openssh-server; need ssh-keygen openssh-client; need openssl openssl
    need ip iproute2; need nsenter util-linux; need nft nftables; need socat socat; need telnet inetutils-telnet
    unshare --mount --uts --pid --fork --net true || die "no namespaces here: run as root with CAP_SYS_ADMIN"
    stop
    mkdir -p /run/sshd # sshd wants it, and the package leaves it to the init system
    claim_ports
    [ -f "$DIR/id_ed25519" ] || ssh-keygen -q -t ed25519 -N '' -C lab -f "$DIR/id_ed25519"
    [ -f "$DIR/host_rsa" ] || ssh-keygen -q -t rsa -b 2048 -N '' -C lab -f "$DIR/host_rsa"
    : >"$DIR/known_hosts"
    for i in $(seq 1 "$N"); do
        name=d$i
        make_device "$name" "$i"
        devices+="${devices:+,
}$(device_json "$name")"
        open_machine "$name"
    done
    # shellcheck disable=SC2046 # one word a device
    await_machines $(seq -f 'd%.0f' 1 "$N")
    for i in $(seq 1 "$N"); do remember "$DIR/d$i"; done
    lab_json "$devices" >"$DIR/lab.json"
    say "$N devices are ready after $SECONDS s: $DIR/lab.json"
}

# remember D: its state, once it stays the same: ports come up when their daemon has started.
remember() {
    state "$1" >"$1/new/state" && wait_for 20 unchanged "$1" || die "$1 does not come to rest"
}
unchanged() {
    sleep 0.1
    state "$1" >"$1/new/now"
    cmp -s "$1/new/now" "$1/new/state" && return
    mv "$1/new/now" "$1/new/state"
    return 1
}
is_new() { state "$1" | cmp -s - "$1/new/state"; }

# renew D: started again if it is not as it was. Who fails or is killed leaves the lease marked: then it is started
# again in any case, for what still runs of that test may change it at any time.
renew() {
    local D name port
    need_root
    D=$(cd "$1" && pwd -P) && DIR=$(dirname "$D") name=$(basename "$D") || die "there is no device $1"
    [ ! -s "$D/lease" ] && is_new "$D" && return
    if noted "$D/process" >/dev/null; then "$here/fault.sh" clear "$D"; fi
    end_machine "$name"
    for port in $(ports_of "$D"); do wait_for 10 port_is_free "$port" || die "port $port of $name is still used"; done
    restore_files "$D"
    open_machine "$name"
    await_machines "$name"
    remember "$D"
}
port_is_free() { [ -z "$(ss -Htln "sport = :$1")" ]; }

stop() {
    local home
    for home in "$DIR"/d[0-9]*; do
        if noted "$home/process" >/dev/null; then "$here/fault.sh" clear "$home"; fi
    done
    end_machines
}

case ${1:-} in
__init) device_init "$2" "$3" ;;
__daemons) device_daemons "$2" ;;
start | stop | status) machine_verbs "$@" ;;
renew) renew "$2" ;;
*) die "usage: $0 start|stop|status DIR, or renew DIR/dN" ;;
esac
