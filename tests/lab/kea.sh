#!/bin/bash
# A real RPC over HTTP, where commands fail with status 200: Kea's control agent, before a DHCP server.
#   kea.sh start DIR     starts both and writes DIR/lab.json: all that a client needs to know
#   kea.sh stop DIR      ends what start started; DIR stays, for its logs
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

PASSWORD=kea-canary-pass

start() {
    local environment
    need kea-dhcp4 kea-dhcp4-server; need kea-ctrl-agent kea-ctrl-agent; need curl curl; need unshare util-linux
    stop
    claim_ports
    take_port
    rm -rf "$DIR"/run "$DIR"/*.sock
    mkdir -p "$DIR/run"
    cat >"$DIR/dhcp4.json" <<Y
{"Dhcp4": {"interfaces-config": {"interfaces": []}, "valid-lifetime": 600, "lease-database": {"type": "memfile", "persist": false},
 "control-socket": {"socket-type": "unix", "socket-name": "$DIR/dhcp4.sock"},
 "subnet4": [{"id": 1, "subnet": "198.18.0.0/24", "pools": [{"pool": "198.18.0.10-198.18.0.99"}]}]}}
Y
    cat >"$DIR/agent.json" <<Y
{"Control-agent": {"http-host": "127.0.0.1", "http-port": $PORT,
 "authentication": {"type": "basic", "realm": "lab", "clients": [{"user": "admin", "password": "$PASSWORD"}]},
 "control-sockets": {"dhcp4": {"socket-type": "unix", "socket-name": "$DIR/dhcp4.sock"}}}}
Y
    environment="env KEA_PIDFILE_DIR=$DIR/run KEA_LOCKFILE_DIR=$DIR/run"
    # A network of its own, so that it answers nobody.
    launch dhcp4 "" $environment unshare --net kea-dhcp4 -c "$DIR/dhcp4.json"
    answers dhcp4 test -S "$DIR/dhcp4.sock"
    launch agent "$PORT" $environment kea-ctrl-agent -c "$DIR/agent.json"
    answers agent curl -sf -m 2 -u "admin:$PASSWORD" -H 'Content-Type: application/json' "http://127.0.0.1:$PORT/" \
        -d '{"command": "version-get", "service": ["dhcp4"]}'
    cat >"$DIR/lab.json" <<Y
{ "dir": "$DIR", "host": "127.0.0.1", "port": $PORT, "user": "admin", "password": "$PASSWORD" }
Y
    say "ready after $SECONDS s: $DIR/lab.json"
}

stop() { end agent; end dhcp4; rm -f "$DIR/lab.json"; }

. "$here/verbs.sh"
