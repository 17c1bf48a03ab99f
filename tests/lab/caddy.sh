#!/bin/bash
# A real declarative REST API: Caddy's own configuration, plain, behind basic authentication and behind TLS.
#   caddy.sh start DIR     starts it and writes DIR/lab.json: all that a client needs to know
#   caddy.sh stop DIR      ends what start started; DIR stays, for its log
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/pki.sh"

PASSWORD=caddy-canary-pass
# The servers with TLS, each with its certificate of DIR/pki.
SHOWN="server elsewhere expired stranger"

# proxy: what hands a request on to the administration, as if it came from there.
proxy() {
    cat <<Y
{"handler": "reverse_proxy", "upstreams": [{"dial": "127.0.0.1:$ADMIN_PORT"}],
 "headers": {"request": {"set": {"Host": ["127.0.0.1:$ADMIN_PORT"]}, "delete": ["Origin", "Authorization"]}}}
Y
}

# tls_server NAME PORT CERTIFICATE POLICY: it shows that certificate, whatever it is asked for.
tls_server() {
    local name
    name=$(openssl x509 -in "$P/$3.pem" -noout -ext subjectAltName 2>/dev/null | sed -n 's/.*DNS:\([^,]*\).*/\1/p')
    cat <<Y
,"$1": {"listen": ["127.0.0.1:$2"], "protocols": ["h1", "h2"], "automatic_https": {"disable": true}, "strict_sni_host": false,
  "tls_connection_policies": [{"default_sni": "${name:-$3}", "certificate_selection": {"any_tag": ["$3"]} ${4-}}], "routes": [{"handle": [$(proxy)]}]}
Y
}

start() {
    local P=$DIR/pki name ports= servers= certificates= hash
    need caddy caddy; need openssl openssl; need curl curl; need perl perl
    stop
    claim_ports
    take_port; ADMIN_PORT=$PORT
    take_port; BASIC_PORT=$PORT
    take_port; CLIENT_PORT=$PORT
    make_pki "$P"
    # Caddy's own command hashes at a cost of seconds for each request.
    hash=$(perl -e 'print crypt($ARGV[0], q($2a$05$LabLabLabLabLabLabLabe))' "$PASSWORD")
    servers=$(tls_server client "$CLIENT_PORT" server ", \"client_authentication\": {\"mode\": \"require_and_verify\",
        \"trusted_ca_certs\": [\"$(openssl x509 -in "$P/ca.pem" -outform DER | base64 -w0)\"]}")
    for name in $SHOWN; do
        take_port
        servers+=$(tls_server "$name" "$PORT" "$name")
        ports+=", \"${name}_port\": $PORT"
        certificates+="${certificates:+,}{\"certificate\": \"$P/$name.pem\", \"key\": \"$P/$name.key\", \"tags\": [\"$name\"]}"
    done
    cat >"$DIR/caddy.json" <<Y
{"admin": {"listen": "127.0.0.1:$ADMIN_PORT", "config": {"persist": false}},
 "storage": {"module": "file_system", "root": "$DIR/data"},
 "apps": {"tls": {"certificates": {"load_files": [$certificates]}},
  "http": {"servers": {"basic": {"listen": ["127.0.0.1:$BASIC_PORT"], "protocols": ["h1", "h2c"], "automatic_https": {"disable": true}, "routes": [{"handle": [
    {"handler": "authentication", "providers": {"http_basic": {"hash": {"algorithm": "bcrypt"}, "hash_cache": {},
      "accounts": [{"username": "admin", "password": "$(printf %s "$hash" | base64 -w0)"}]}}}, $(proxy)]}]}
   $servers}}}}
Y
    launch caddy "$ADMIN_PORT $BASIC_PORT $CLIENT_PORT" env HOME="$DIR" XDG_DATA_HOME="$DIR/data" \
        XDG_CONFIG_HOME="$DIR/data" caddy run --config "$DIR/caddy.json"
    answers caddy curl -sf -m 5 -u "admin:$PASSWORD" "http://127.0.0.1:$BASIC_PORT/config/admin"
    cat >"$DIR/lab.json" <<Y
{ "dir": "$DIR", "host": "127.0.0.1", "admin_port": $ADMIN_PORT, "port": $BASIC_PORT, "client_port": $CLIENT_PORT $ports,
  "pki": "$P", "user": "admin", "password": "$PASSWORD",
  "fingerprint": "$(openssl x509 -in "$P/stranger.pem" -noout -fingerprint -sha256 | cut -d= -f2)" }
Y
    say "ready after $SECONDS s: $DIR/lab.json"
}

stop() { end caddy; rm -f "$DIR/lab.json"; }

. "$here/verbs.sh"
