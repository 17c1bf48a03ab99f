#!/bin/bash
# A real database server of Open vSwitch: ovsdb-server with the switch's schema, over TCP, mutual TLS and a socket.
#   ovs.sh start DIR     starts it and writes DIR/lab.json: all that a client needs to know
#   ovs.sh stop DIR      ends what start started; DIR stays, for its logs
# README.md tells what is particular.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# make_pki: two authorities; the server and `client` are of one, `other` is of the other.
make_pki() {
    local pki=$DIR/pki name authority
    mkdir -p "$pki"
    for authority in ca other-ca; do
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=lab $authority" \
            -addext keyUsage=critical,keyCertSign -keyout "$pki/$authority.key" -out "$pki/$authority.pem" || return
    done
    for name in server client other; do
        authority=ca
        [ $name = other ] && authority=other-ca
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$name" \
            -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$pki/$name.key" -out "$pki/$name.csr" || return
        openssl x509 -req -in "$pki/$name.csr" -CA "$pki/$authority.pem" -CAkey "$pki/$authority.key" -CAcreateserial \
            -days 3650 -copy_extensions copy -out "$pki/$name.pem" || return
    done
} 2>"$DIR/openssl.log"

vsctl() { ovs-vsctl --timeout=5 --no-wait --db="unix:$DIR/db.sock" "$@"; }

lab_json() {
    cat <<X
{
  "host": "127.0.0.1",
  "tcp_port": $TCP_PORT,
  "ssl_port": $SSL_PORT,
  "probing_port": $PROBING_PORT,
  "socket": "$DIR/db.sock",
  "log": "$DIR/ovsdb.log",
  "pki": "$DIR/pki",
  "schema": "/usr/share/openvswitch/vswitch.ovsschema"
}
X
}

start() {
    need ovsdb-server openvswitch-switch; need ovs-vsctl openvswitch-switch; need openssl openssl
    stop
    claim_ports
    take_port; TCP_PORT=$PORT
    take_port; SSL_PORT=$PORT
    take_port; PROBING_PORT=$PORT
    make_pki || die "openssl makes no certificates (log: $DIR/openssl.log)"
    rm -f "$DIR/conf.db" "$DIR/db.sock" "$DIR/ovsdb.ctl"
    ovsdb-tool create "$DIR/conf.db" /usr/share/openvswitch/vswitch.ovsschema || die "no database"
    launch server "$TCP_PORT $SSL_PORT $PROBING_PORT" env OVS_RUNDIR="$DIR" OVS_LOGDIR="$DIR" \
        ovsdb-server "$DIR/conf.db" --unixctl="$DIR/ovsdb.ctl" \
        --log-file="$DIR/ovsdb.log" --remote="punix:$DIR/db.sock" --remote="ptcp:$TCP_PORT:127.0.0.1" \
        --remote="pssl:$SSL_PORT:127.0.0.1" --remote=db:Open_vSwitch,Open_vSwitch,manager_options \
        --private-key="$DIR/pki/server.key" --certificate="$DIR/pki/server.pem" --ca-cert="$DIR/pki/ca.pem"
    # One row describes the switch; its manager asks after a second of silence whether the client is there.
    answers server vsctl init
    vsctl --id=@m create Manager "target=\"ptcp:$PROBING_PORT:127.0.0.1\"" inactivity_probe=1000 -- \
        add Open_vSwitch . manager_options @m >/dev/null || die "no manager"
    wait_for 10 ovsdb-client --timeout=2 list-dbs "tcp:127.0.0.1:$PROBING_PORT" || die "the probing port does not answer"
    lab_json >"$DIR/lab.json"
    say "ready after $SECONDS s: $DIR/lab.json"
}

stop() { end server; rm -f "$DIR/lab.json"; }

. "$here/verbs.sh"
