#!/bin/bash
# Real NETCONF servers on 127.0.0.1: netconfd (yuma123) behind OpenSSH, each with other capabilities.
#   netconf.sh start DIR     starts them and writes DIR/lab.json: all that a client needs to know
#   netconf.sh stop DIR      ends what start started; DIR stays, for its logs
#   netconf.sh status DIR    says which are up
# README.md tells what a device is made of, and how they differ.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/machines.sh"

DEVICES="candidate old running startup"
ADMIN_PASSWORD=netconf-canary-admin
OPER_PASSWORD=netconf-canary-oper

# particular NAME: what netconfd is told for this device alone.
particular() {
    case $1 in
    candidate) echo "--target=candidate --with-startup=false" ;;
    old) echo "--target=candidate --with-startup=false --protocols=netconf1.0" ;;
    running) echo "--target=running --with-startup=false" ;;
    startup) echo "--target=candidate --with-startup=true" ;;
    esac
}

# ---- inside a device's namespaces -----------------------------------------------------------------------------

# The device's first process: its own hostname and users, netconfd with a network of its own, then its SSH server.
device_init() {
    local D=$1 name=$2 port=$3 file
    set -e
    mount --make-rprivate /
    hostname "$name"
    for file in passwd shadow group; do mount --bind "$D/etc/$file" "/etc/$file"; done
    unshare --net --mount "$0" __netconfd "$D" "$name" "$port" >>"$D/log/netconfd.log" 2>&1 </dev/null &
    echo $! >"$D/run/netconfd.pid"
    wait_for 30 test -S "$D/run/ncx.sock"
    env -i PATH="$PATH" /usr/sbin/sshd -f "$D/etc/sshd.conf" -E "$D/log/sshd.log"
    # As process 1 it reaps what loses its parent.
    while :; do sleep 3600 & wait $!; done
}

# netconfd, which looks for interfaces in /sys of its own network.
device_netconfd() {
    local D=$1 name=$2 port=$3
    ip link set lo up
    ip link add eth0 type ifb
    ip link set eth0 up
    mount -t sysfs sysfs /sys
    cd "$D/home" || exit
    # shellcheck disable=SC2046 # one word an option
    HOME=$D/home PATH=$D/bin:$PATH exec netconfd --module=ietf-interfaces --module=iana-if-type --module=ietf-system \
        --superuser=admin --port="$port" --ncxserver-sockname="$D/run/ncx.sock" --log-level=info \
        $(particular "$name") --no-startup
}

# ---- outside --------------------------------------------------------------------------------------------------

# The module ietf-interfaces runs two programs that Debian's package does not bring, and aborts where they fail. It runs
# them for every interface every second and answers nobody meanwhile: there are few interfaces, and these are quick.
add_programs() {
    cat >"$1/bin/get-interface-ipv4" <<'X'
#!/bin/sh
# The operational `ipv4` container of an interface, or nothing.
[ "$1" != lo ] || echo '<ipv4 xmlns="urn:ietf:params:xml:ns:yang:ietf-ip"><address><ip>127.0.0.1</ip><prefix-length>8</prefix-length></address></ipv4>'
X
    printf '#!/bin/sh\n# Interfaces stay as they are.\n' >"$1/bin/ifconfig"
    chmod 755 "$1"/bin/*
}

# make_device NAME: its files, under DIR/NAME; sets PORT.
make_device() {
    local D=$DIR/$1
    rm -rf "$D"
    mkdir -p "$D"/{etc,run,log,home,bin}
    cp /etc/passwd /etc/group "$D/etc/"
    grep -E '^(root|sshd|nobody):' /etc/shadow >"$D/etc/shadow"
    chmod 600 "$D/etc/shadow"
    add_user "$D" admin 7101 7101 "$D/home/admin" /bin/sh "$ADMIN_PASSWORD"
    add_user "$D" oper 7102 7102 "$D/home/oper" /bin/sh "$OPER_PASSWORD"
    add_programs "$D"
    ssh-keygen -q -t ed25519 -N '' -C "$1" -f "$D/etc/host_ed25519"
    take_port
    echo "[127.0.0.1]:$PORT $(cut -d' ' -f1,2 "$D/etc/host_ed25519.pub")" >>"$DIR/known_hosts"
    cat >"$D/etc/sshd.conf" <<X
ListenAddress 127.0.0.1:$PORT
PidFile $D/run/sshd.pid
HostKey $D/etc/host_ed25519
UsePAM no
PasswordAuthentication yes
KbdInteractiveAuthentication no
PermitRootLogin no
AllowUsers admin oper
StrictModes no
PrintMotd no
UseDNS no
MaxStartups 500
Subsystem netconf /usr/sbin/netconf-subsystem --ncxserver-sockname=$PORT@$D/run/ncx.sock
X
}

device_json() { # NAME
    cat <<X
    {
      "name": "$1",
      "dir": "$DIR/$1",
      "host": "127.0.0.1",
      "port": $PORT
    }
X
}

lab_json() { # DEVICES
    cat <<X
{
  "dir": "$DIR",
  "users": {
    "admin": { "password": "$ADMIN_PASSWORD" },
    "oper": { "password": "$OPER_PASSWORD" }
  },
  "private_key": "$DIR/id_ed25519",
  "known_hosts": "$DIR/known_hosts",
  "fault": "$here/netconf.sh",
  "devices": [
$1
  ]
}
X
}


# ready NAME: the whole way, through SSH and the subsystem, up to netconfd's hello.
ready() {
    local D=$DIR/$1 from_ssh ssh line said=1
    noted "$D/process" >/dev/null || { tail -n 20 "$D"/log/*.log >&2; die "$1 ended while it started (logs: $D/log)"; }
    [ -s "$D/run/sshd.pid" ] || return 1
    exec {from_ssh}< <(exec timeout 10 ssh -F none -i "$DIR/id_ed25519" -o IdentitiesOnly=yes -o BatchMode=yes \
        -o UserKnownHostsFile="$DIR/known_hosts" -p "$(ports_of "$D")" admin@127.0.0.1 -s netconf \
        2>/dev/null 9>&- < <(exec sleep 10 9>&-))
    ssh=$!
    while IFS= read -r -t 10 -u "$from_ssh" line; do
        case $line in *netconf:base:1.*) said=0 && break ;; esac
    done
    kill "$ssh" 2>/dev/null
    exec {from_ssh}<&-
    return $said
}

start() {
    local name devices=
    need netconfd netconfd; need sshd openssh-server; need ssh-keygen openssh-client; need openssl openssl
    need ip iproute2; need nsenter util-linux
    [ -x /usr/sbin/netconf-subsystem ] || die "'netconf-subsystem' is missing: apt-get install -y netconfd"
    for name in ietf-interfaces ietf-system; do
        ls /usr/lib/*/yuma/lib$name.so* >/dev/null 2>&1 ||
            die "the module $name is missing: apt-get install -y --no-install-recommends netconfd-module-$name"
    done
    unshare --mount --uts --pid --fork --net true || die "no namespaces here: run as root with CAP_SYS_ADMIN"
    stop
    mkdir -p /run/sshd # sshd wants it, and the package leaves it to the init system
    claim_ports
    [ -f "$DIR/id_ed25519" ] || ssh-keygen -q -t ed25519 -N '' -C lab -f "$DIR/id_ed25519"
    : >"$DIR/known_hosts"
    for name in $DEVICES; do
        make_device "$name"
        devices+="${devices:+,
}$(device_json "$name")"
        open_machine "$name" "$PORT"
    done
    # shellcheck disable=SC2086 # one word a device
    await_machines $DEVICES
    lab_json "$devices" >"$DIR/lab.json"
    say "$(echo $DEVICES | wc -w) NETCONF servers are ready after $SECONDS s: $DIR/lab.json"
}

stop() { end_machines; }

# Faults of one device, which is DIR here: netconfd stands still, goes on, or loses its sessions in their middle.
signal_inside() { # SIGNAL PATTERN
    local outer inner process
    outer=$(noted "$DIR/process") || die "$DIR is not up"
    inner=$(cat "/proc/$outer/task/$outer/children") && inner=${inner% }
    for process in /proc/[0-9]*; do
        [ "$process/ns/pid" -ef "/proc/$inner/ns/pid" ] || continue
        grep -qE "$2" "$process/comm" && kill "-$1" "${process#/proc/}" 2>/dev/null
    done
    return 0
}
hang() { signal_inside STOP '^netconfd$'; }
resume() { signal_inside CONT '^netconfd$'; }
sever() { signal_inside KILL '^netconf-subsyst'; }

case ${1:-} in
__init) device_init "$2" "$3" "$4" ;;
__netconfd) device_netconfd "$2" "$3" "$4" ;;
start | stop | status | hang | resume | sever) machine_verbs "$@" ;;
*) die "usage: $0 start|stop|status DIR, or hang|resume|sever DIR/DEVICE" ;;
esac
