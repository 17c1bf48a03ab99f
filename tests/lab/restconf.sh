#!/bin/bash
# A real RESTCONF server, JetConf of CZ.NIC, with ietf-system and ietf-interfaces: HTTP/2 behind TLS that wants a
# client's certificate, and in clear text for clients that know beforehand that it is HTTP/2.
#   restconf.sh start DIR     starts both and writes DIR/lab.json: all that a client needs to know
#   restconf.sh stop DIR      ends what start started; DIR stays, for its logs
# It is a Python package. The first start on a machine installs it from the index that pip knows, outside of the
# checkout; later ones find it there.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/pki.sh"

# The models that netconfd comes with.
MODELS=/usr/share/yuma/modules/ietf

# Where the packages are installed, by what is installed. JetConf goes with the yangson that knows RFC 7895 alone, and
# wants setuptools' old module.
PACKAGES=(jetconf==0.3.6 yangson==1.4.19 elementpath==5.1.4 h2==4.4.1 PyYAML==6.0.3 pytz==2026.6 colorlog==6.12.0 'setuptools==80.9.0')
VENV=${XDG_CACHE_HOME:-$HOME/.cache}/devgate-lab/jetconf-0.3.6-yangson-1.4.19

# install: the packages, unless they are there.
install() {
    local log=$DIR/pip.log
    [ -e "$VENV/complete" ] && return
    need python3 python3
    say "installing JetConf in $VENV"
    rm -rf "$VENV"
    python3 -m venv "$VENV" >"$log" 2>&1 || { tail -n 3 "$log" >&2; die "python3 -m venv: apt-get install -y --no-install-recommends python3-venv"; }
    "$VENV/bin/python" -m pip install -q --disable-pip-version-check --retries 1 --timeout 15 "${PACKAGES[@]}" >>"$log" 2>&1 ||
        { tail -n 3 "$log" >&2; die "pip cannot install it: the lab's RESTCONF server needs a package index (PIP_INDEX_URL, or pip's configuration)"; }
    touch "$VENV/complete"
}

# backend: what makes a device of JetConf: its models, its state and its operations.
backend() {
    local B=$DIR/backend/labdevice module
    mkdir -p "$B"
    touch "$B/__init__.py"
    cat >"$B/usr_datastore.py" <<'P'
from jetconf.data import JsonDatastore as UserDatastore
P
    cat >"$B/usr_state_data_handlers.py" <<'P'
from jetconf.handler_base import StateDataContainerHandler


class SystemState(StateDataContainerHandler):
    def generate_node(self, path, user, staging):
        return {"platform": {"os-name": "JetConf", "os-release": "0.3.6", "machine": "x86_64"}}


def register_state_handlers(datastore):
    datastore.handlers.state.register(SystemState(datastore, "/ietf-system:system-state"))
P
    cat >"$B/usr_op_handlers.py" <<'P'
def register_op_handlers(datastore):
    datastore.handlers.op.register(lambda input, user: None, "ietf-system:system-restart")
    datastore.handlers.op.register(lambda input, user: None, "ietf-system:set-current-datetime")
P
    library() { # CONFORMANCE MODULE@REVISION...
        local conformance=$1
        shift
        for module; do
            echo "{\"name\": \"${module%@*}\", \"revision\": \"${module#*@}\", \"conformance-type\": \"$conformance\",
                   \"namespace\": \"urn:ietf:params:xml:ns:yang:${module%@*}\"}"
        done
    }
    {
        library implement ietf-system@2014-08-06 ietf-interfaces@2014-05-08 iana-if-type@2014-05-08 \
            ietf-yang-library@2016-06-21 ietf-netconf-acm@2018-02-14
        library import ietf-yang-types@2013-07-15 ietf-inet-types@2013-07-15 iana-crypt-hash@2014-08-06
    } | sed '$!s/}$/},/' >"$B/modules"
    echo "{\"ietf-yang-library:modules-state\": {\"module-set-id\": \"lab\", \"module\": [$(cat "$B/modules")]}}" \
        >"$B/yang-library-data.json"
}

# server NAME PORT SETTINGS: starts one, with data of its own.
server() {
    mkdir -p "$DIR/$1"
    cat >"$DIR/$1/data.json" <<'J'
{"ietf-system:system": {"hostname": "rc1", "contact": "noc"},
 "ietf-interfaces:interfaces": {"interface": [
   {"name": "ge-0/0/0", "type": "iana-if-type:ethernetCsmacd", "description": "uplink"}]},
 "ietf-netconf-acm:nacm": {"groups": {"group": [{"name": "guests", "user-name": ["guest"]}]}, "rule-list": [
   {"name": "guests", "group": ["guests"], "rule": [
     {"name": "only-look", "module-name": "*", "access-operations": "create update delete exec", "action": "deny"}]}]}}
J
    cat >"$DIR/$1/config.yaml" <<Y
GLOBAL: {LOGFILE: "-", PIDFILE: "$DIR/$1/pid", YANG_LIB_DIR: "$MODELS", DATA_JSON_FILE: "$DIR/$1/data.json",
  BACKEND_PACKAGE: labdevice, CLIENT_CN: true}
HTTP_SERVER: {DOC_ROOT: "$DIR/$1/documents", PORT: $2, LISTEN_LOCALHOST_ONLY: true, $3}
NACM: {ENABLED: true, ALLOWED_USERS: [root]}
Y
    # What it expects of Python that newer ones have elsewhere, or not before somebody makes it.
    PYTHONPATH=$DIR/backend launch "$1" "$2" "$VENV/bin/python" -c 'import asyncio, collections.abc
collections.Iterable = collections.abc.Iterable
asyncio.set_event_loop(asyncio.new_event_loop())
import jetconf.__main__
jetconf.__main__.main()' -c "$DIR/$1/config.yaml"
}

start() {
    local P=$DIR/pki meta=.well-known/host-meta
    need openssl openssl; need curl curl
    [ -e "$MODELS" ] || die "$MODELS is missing: apt-get install -y --no-install-recommends netconfd"
    stop
    claim_ports
    install
    take_port; TLS_PORT=$PORT
    take_port; CLEAR_PORT=$PORT
    make_pki "$P"
    signed "$P" guest guest 3650 DNS:guest
    backend
    server tls "$TLS_PORT" "SERVER_SSL_CERT: '$P/server.pem', SERVER_SSL_PRIVKEY: '$P/server.key', CA_CERT: '$P/ca.pem'"
    server clear "$CLEAR_PORT" "DISABLE_SSL: true"
    answers tls curl -sf -m 5 --cacert "$P/ca.pem" --cert "$P/client.pem" --key "$P/client.key" "https://127.0.0.1:$TLS_PORT/$meta"
    answers clear curl -sf -m 5 --http2-prior-knowledge -H 'x-ssl-client-cn: root' "http://127.0.0.1:$CLEAR_PORT/$meta"
    cat >"$DIR/lab.json" <<Y
{ "dir": "$DIR", "host": "127.0.0.1", "tls_port": $TLS_PORT, "clear_port": $CLEAR_PORT, "pki": "$P" }
Y
    say "ready after $SECONDS s: $DIR/lab.json"
}

stop() {
    end tls
    end clear
    rm -f "$DIR/lab.json"
}

. "$here/verbs.sh"
