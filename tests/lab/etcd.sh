#!/bin/bash
# A real HTTP API with logins that expire, and with client certificates: two etcd, by their JSON gateway.
#   etcd.sh start DIR     starts them and writes DIR/lab.json: all that a client needs to know
#   etcd.sh stop DIR      ends what start started; DIR stays, for its logs
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/pki.sh"

PASSWORD=etcd-canary-pass
# etcd looks every second for tokens that are as old as this: after three at most a login has expired.
TOKEN_TTL=2

# etcd NAME URL PEER_PORT OPTION...: a cluster of one.
member() {
    local name=$1 url=$2 peer=http://127.0.0.1:$3
    shift 3
    launch "$name" "${url##*:} ${peer##*:}" env -i PATH="$PATH" etcd --name "$name" --data-dir "$DIR/$name.data" \
        --listen-client-urls "$url" --advertise-client-urls "$url" --listen-peer-urls "$peer" \
        --initial-advertise-peer-urls "$peer" --initial-cluster "$name=$peer" --auth-token-ttl "$TOKEN_TTL" "$@"
}

call() { curl -sf -m 5 "http://127.0.0.1:$HTTP_PORT/v3/$1" -d "$2" >/dev/null || die "etcd refuses $1"; }

# Accounts: root, and lab, who may only touch keys that begin with /lab/.
make_users() {
    local from to
    from=$(printf /lab/ | base64) to=$(printf /lab0 | base64)
    call auth/role/add '{"name":"root"}'
    call auth/user/add "{\"name\":\"root\",\"password\":\"$PASSWORD\"}"
    call auth/user/grant '{"user":"root","role":"root"}'
    call auth/role/add '{"name":"lab"}'
    call auth/role/grant "{\"name\":\"lab\",\"perm\":{\"permType\":\"READWRITE\",\"key\":\"$from\",\"range_end\":\"$to\"}}"
    call auth/user/add "{\"name\":\"lab\",\"password\":\"$PASSWORD\"}"
    call auth/user/grant '{"user":"lab","role":"lab"}'
    call auth/enable '{}'
}

start() {
    local P=$DIR/pki port
    need etcd etcd-server; need curl curl; need openssl openssl
    stop
    claim_ports
    for port in HTTP_PORT HTTP_PEER TLS_PORT TLS_PEER; do take_port; printf -v "$port" %s "$PORT"; done
    rm -rf "$DIR"/*.data
    make_pki "$P"
    member plain "http://127.0.0.1:$HTTP_PORT" "$HTTP_PEER"
    member tls "https://127.0.0.1:$TLS_PORT" "$TLS_PEER" --cert-file "$P/server.pem" --key-file "$P/server.key" \
        --client-cert-auth --trusted-ca-file "$P/ca.pem"
    answers plain sh -c "curl -sf -m 2 http://127.0.0.1:$HTTP_PORT/health | grep -q true"
    answers tls sh -c "curl -sf -m 2 --cacert $P/ca.pem --cert $P/client.pem --key $P/client.key \
        https://127.0.0.1:$TLS_PORT/health | grep -q true"
    make_users
    cat >"$DIR/lab.json" <<Y
{ "dir": "$DIR", "host": "127.0.0.1", "port": $HTTP_PORT, "tls_port": $TLS_PORT, "pki": "$P",
  "user": "lab", "password": "$PASSWORD", "token_ttl": $TOKEN_TTL }
Y
    say "ready after $SECONDS s: $DIR/lab.json"
}

stop() { end plain; end tls; rm -f "$DIR/lab.json"; }

. "$here/verbs.sh"
