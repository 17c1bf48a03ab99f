#!/bin/bash
# A real REST API: PowerDNS with its HTTP API, whose key goes in a header, and what it serves by DNS.
#   pdns.sh start DIR     starts it and writes DIR/lab.json: all that a client needs to know
#   pdns.sh stop DIR      ends what start started; DIR stays, for its log
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

KEY=pdns-canary-key
SCHEMA=/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql

start() {
    need pdns_server pdns-server; need sqlite3 sqlite3; need curl curl
    [ -f "$SCHEMA" ] || die "$SCHEMA is missing: apt-get install -y --no-install-recommends pdns-backend-sqlite3"
    stop
    claim_ports
    take_port; DNS_PORT=$PORT
    take_port; API_PORT=$PORT
    rm -rf "$DIR/pdns.db" "$DIR/run" "$DIR/conf"
    mkdir -p "$DIR/run" "$DIR/conf"
    sqlite3 "$DIR/pdns.db" <"$SCHEMA" || die "sqlite3 makes no database"
    cat >"$DIR/conf/pdns.conf" <<Y
launch=gsqlite3
gsqlite3-database=$DIR/pdns.db
local-address=127.0.0.1
local-port=$DNS_PORT
socket-dir=$DIR/run
api=yes
api-key=$KEY
webserver=yes
webserver-address=127.0.0.1
webserver-port=$API_PORT
webserver-allow-from=127.0.0.0/8
daemon=no
guardian=no
security-poll-suffix=
zone-cache-refresh-interval=0
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
Y
    launch pdns "$DNS_PORT $API_PORT" pdns_server --config-dir="$DIR/conf"
    echo "X-API-Key: $KEY" >"$DIR/key.header"
    answers pdns curl -sf -m 2 -H "@$DIR/key.header" "http://127.0.0.1:$API_PORT/api/v1/servers/localhost"
    cat >"$DIR/lab.json" <<Y
{ "dir": "$DIR", "host": "127.0.0.1", "port": $API_PORT, "dns_port": $DNS_PORT, "key": "$KEY" }
Y
    say "ready after $SECONDS s: $DIR/lab.json"
}

stop() { end pdns; rm -f "$DIR/lab.json"; }

. "$here/verbs.sh"
