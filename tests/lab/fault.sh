#!/bin/bash
# Faults of one device of the lab (DEVICE is DIR/dN) that a test brings about and takes away again.
#   fault.sh freeze DEVICE      nothing in it runs: open connections fall silent, new ones get no banner (SIGSTOP)
#   fault.sh thaw DEVICE        it goes on where it stood
#   fault.sh refuse DEVICE      its main SSH server is not there: connections are refused; open ones stay
#   fault.sh accept DEVICE      the SSH server is there again
#   fault.sh drop DEVICE        what is sent to its main SSH port is lost: new connections get no answer at all
#   fault.sh unreach DEVICE     new connections to its main SSH port meet "no route to host"
#   fault.sh clear DEVICE       thaw and accept, and take the rules of drop and unreach away
. "$(dirname "$0")/lib.sh"
need_root
[ -n "${2:-}" ] || die "usage: $0 freeze|thaw|refuse|accept|drop|unreach|clear DEVICE"
DEVICE=$2
OUTER=$(noted "$DEVICE/process") || die "$DEVICE is not up"
# The device's own process 1 is the only child of the process that made its namespaces.
INNER=$(cat "/proc/$OUTER/task/$OUTER/children") && INNER=${INNER% }
PORT=$(sed -n 's/^ListenAddress .*://p' "$DEVICE/etc/ssh.conf")
TABLE="inet devgate_lab_$PORT"

inside() { nsenter --mount --uts --pid --target "$INNER" "$@"; }

# Every process of the device but its process 1, which the kernel guards from signals of its own namespace.
signal_all() {
    local process
    for process in /proc/[0-9]*; do
        [ ! "$process/ns/pid" -ef "/proc/$INNER/ns/pid" ] || kill "-$1" "${process#/proc/}" 2>/dev/null
    done
    return 0
}

listening() { [ -n "$(ss -Htln "sport = :$PORT")" ]; }
not_listening() { ! listening; }

refuse() {
    local pid
    pid=$(cat "$DEVICE/run/sshd-ssh.pid" 2>/dev/null) || return 0
    inside kill -TERM "$pid"
    wait_for 5 not_listening || die "the SSH server of $DEVICE does not end"
}

accept() {
    listening && return 0
    inside /usr/sbin/sshd -f "$DEVICE/etc/ssh.conf" -E "$DEVICE/log/ssh.log"
    wait_for 5 listening || die "the SSH server of $DEVICE does not start"
}

# One table a port, so that labs and other rules of the machine do not meet.
filter() {
    nft -f - <<X || die "nft does not take the rule: CAP_NET_ADMIN and nf_tables are needed"
add table $TABLE
add chain $TABLE input { type filter hook input priority -10; policy accept; }
add rule $TABLE input $*
X
}
unfilter() { nft delete table $TABLE 2>/dev/null || true; }

case $1 in
freeze) signal_all STOP ;;
thaw) signal_all CONT ;;
refuse) refuse ;;
accept) accept ;;
drop) filter tcp dport "$PORT" drop ;;
unreach) filter tcp dport "$PORT" ct state new reject with icmpx type host-unreachable ;;
clear) signal_all CONT; unfilter; accept ;;
*) die "unknown fault '$1'" ;;
esac
