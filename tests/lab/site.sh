#!/bin/bash
# A site behind proxies: a network namespace from which a client reaches some ports of this machine, and nothing else.
#   site.sh start DIR PORT...   makes it; DIR/lab.json has its name and the address at which the ports are
#   site.sh stop DIR            removes it
# What runs there (`ip netns exec NAME COMMAND`) has a loopback of its own, where no device of the lab listens.
. "$(dirname "$0")/lib.sh"
need_root

names() { # DIR: sets NAME, TABLE, NEAR, FAR and ADDRESS
    NAME=$(cat "$1/site") || die "there is no site in $1"
    TABLE="ip devgate_$NAME"
    NEAR=s$NAME-a FAR=s$NAME-b
    # 198.18.0.0/15 is for measurements within one network (RFC 2544). Each site has four addresses of its own.
    local block=$((16#${NAME} * 4))
    ADDRESS=198.18.$((block / 256)).$((block % 256 + 1))
    CLIENT=198.18.$((block / 256)).$((block % 256 + 2))
}

start() {
    local port
    need ip iproute2; need nft nftables
    mkdir -p "$DIR"
    # Sites of several runs do not meet.
    for _ in $(seq 20); do
        printf '%04x' $((RANDOM % 16384)) >"$DIR/site"
        names "$DIR"
        ip netns add "dg$NAME" 2>/dev/null && break
    done
    ip link add "$NEAR" type veth peer name "$FAR" netns "dg$NAME" || die "no pair of interfaces"
    ip address add "$ADDRESS/30" dev "$NEAR" && ip link set "$NEAR" up
    ip -n "dg$NAME" link set lo up
    ip -n "dg$NAME" address add "$CLIENT/30" dev "$FAR" && ip -n "dg$NAME" link set "$FAR" up
    # The servers listen on 127.0.0.1 alone.
    echo 1 >"/proc/sys/net/ipv4/conf/$NEAR/route_localnet"
    {
        echo "add table $TABLE"
        echo "add chain $TABLE in { type nat hook prerouting priority -100; }"
        for port; do echo "add rule $TABLE in iifname $NEAR ip daddr $ADDRESS tcp dport $port dnat to 127.0.0.1:$port"; done
        echo "add chain $TABLE filter { type filter hook input priority -10; policy accept; }"
        for port; do echo "add rule $TABLE filter iifname $NEAR tcp dport $port accept"; done
        echo "add rule $TABLE filter iifname $NEAR drop"
    } | nft -f - || die "nft does not take the rules: CAP_NET_ADMIN and nf_tables are needed"
    echo "{ \"netns\": \"dg$NAME\", \"address\": \"$ADDRESS\", \"client\": \"$CLIENT\" }" >"$DIR/lab.json"
    say "$DIR/lab.json"
}

stop() {
    [ -e "$DIR/site" ] || return 0
    names "$DIR"
    nft delete table $TABLE 2>/dev/null
    ip netns delete "dg$NAME" 2>/dev/null # its interfaces go with it
    rm -f "$DIR/site" "$DIR/lab.json"
}

DIR=${2:-}
[ -n "$DIR" ] || die "usage: $0 start DIR PORT..., or stop DIR"
case $1 in
start) shift 2; start "$@" ;;
stop) stop ;;
*) die "usage: $0 start DIR PORT..., or stop DIR" ;;
esac
