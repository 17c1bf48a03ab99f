#!/bin/bash
# Faults of the way to one port of this network namespace, whatever listens there, by TCP or UDP.
#   link.sh refuse PORT         new connections are refused (RST); open ones stay
#   link.sh reset PORT          open connections are reset at their next packet, new ones refused
#   link.sh drop PORT           what is sent to the port is lost: connections get no answer
#   link.sh halfopen PORT       both directions are lost: open connections are dead, and neither side is told
#   link.sh unreach PORT        new connections meet "no route to host"
#   link.sh loss PORT PERCENT   so many packets of a hundred are lost, in both directions
#   link.sh mtu PORT BYTES      longer packets vanish without a word, in both directions: an MTU black hole
#   link.sh queue PORT          every packet waits in queue PORT until a program lets it pass
#   link.sh cut PORT            the sockets that are connected to the port are destroyed
#   link.sh clear PORT          heals them all
. "$(dirname "$0")/lib.sh"
need_root
[ -n "${2:-}" ] || die "usage: $0 refuse|reset|drop|halfopen|unreach|loss|mtu|queue|cut|clear PORT [NUMBER]"
PORT=$2
NUMBER=${3:-}
# One table a port, so that labs and other rules of the machine do not meet.
TABLE="inet devgate_link_$PORT"

# filter RULE...: each for what comes in, which on loopback is both directions.
filter() {
    local rule
    {
        echo "add table $TABLE"
        echo "add chain $TABLE input { type filter hook input priority -10; policy accept; }"
        for rule in "$@"; do echo "add rule $TABLE input $rule"; done
    } | nft -f - || die "nft does not take the rules: CAP_NET_ADMIN and nf_tables are needed"
}

queue() { # -I|-D
    local protocol side
    # The kernel's nft may lack queues; the older tables have them.
    for protocol in tcp udp; do
        for side in --dport --sport; do
            iptables-legacy "$1" INPUT -p $protocol "$side" "$PORT" -j NFQUEUE --queue-num "$PORT" || return
        done
    done
}

TO="meta l4proto { tcp, udp } th dport $PORT"
FROM="meta l4proto { tcp, udp } th sport $PORT"

case $1 in
refuse) filter "tcp dport $PORT ct state new reject with tcp reset" "udp dport $PORT reject" ;;
reset)
    # The resets themselves must come through.
    filter "tcp flags & rst == 0 tcp dport $PORT reject with tcp reset" \
        "tcp flags & rst == 0 tcp sport $PORT reject with tcp reset" "udp dport $PORT reject"
    ;;
drop) filter "$TO drop" ;;
halfopen) filter "$TO drop" "$FROM drop" ;;
unreach) filter "$TO ct state new reject with icmpx type host-unreachable" ;;
loss) filter "$TO numgen random mod 100 < $NUMBER drop" "$FROM numgen random mod 100 < $NUMBER drop" ;;
mtu) filter "$TO meta length > $NUMBER drop" "$FROM meta length > $NUMBER drop" ;;
queue) queue -I || die "iptables-legacy does not take the rule: NFQUEUE is needed" ;;
cut) ss -HK state established "( sport = :$PORT or dport = :$PORT )" >/dev/null ;;
clear)
    nft delete table $TABLE 2>/dev/null
    queue -D 2>/dev/null
    true
    ;;
*) die "unknown fault '$1'" ;;
esac
