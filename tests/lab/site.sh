#!/bin/bash
# A site behind proxies: a network namespace from which a client reaches some ports of this machine, and nothing else.
#   site.sh start DIR PORT...   makes it; DIR/lab.json has its name
#   site.sh stop DIR            removes it
# `ip netns exec NAME COMMAND` runs a command there. It has a loopback of its own, where only these ports answer. Each is
# passed on through a socket of the file system, so that the machine's own interfaces stay as they are.
. "$(dirname "$0")/lib.sh"
need_root

# pass NAME COMMAND...: starts a program that passes connections on.
pass() {
    local name=$1
    shift
    setsid "$@" >>"$DIR/site.log" 2>&1 </dev/null &
    note_process $! "$DIR/$name.process"
}

start() {
    local port
    need ip iproute2; need socat socat
    mkdir -p "$DIR"
    for _ in $(seq 20); do
        NAME=devgate-site-$RANDOM
        ip netns add "$NAME" 2>/dev/null && break
    done
    echo "$NAME" >"$DIR/site"
    ip -n "$NAME" link set lo up || die "no loopback in $NAME"
    for port; do
        pass "out-$port" socat "UNIX-LISTEN:$DIR/$port.sock,fork" "TCP:127.0.0.1:$port"
        pass "in-$port" ip netns exec "$NAME" socat "TCP-LISTEN:$port,bind=127.0.0.1,reuseaddr,fork" "UNIX-CONNECT:$DIR/$port.sock"
    done
    for port; do
        wait_for 10 test -S "$DIR/$port.sock" || die "port $port is not passed on"
        wait_for 10 listens "$port" || die "port $port is not there"
    done
    echo "{ \"netns\": \"$NAME\" }" >"$DIR/lab.json"
}
listens() { [ -n "$(ip netns exec "$NAME" ss -Htln "sport = :$1")" ]; }

stop() {
    local record pid
    for record in "$DIR"/*.process; do
        # With its children, one for each connection.
        if pid=$(noted "$record"); then kill -KILL -- "-$pid"; fi
        rm -f "$record"
    done
    [ -e "$DIR/site" ] && ip netns delete "$(cat "$DIR/site")"
    rm -f "$DIR"/*.sock "$DIR/site" "$DIR/lab.json"
}

DIR=${2:-}
[ -n "$DIR" ] || die "usage: $0 start DIR PORT..., or stop DIR"
case $1 in
start) shift 2; start "$@" ;;
stop) stop ;;
*) die "usage: $0 start DIR PORT..., or stop DIR" ;;
esac
