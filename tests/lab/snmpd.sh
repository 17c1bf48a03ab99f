#!/bin/bash
# A real SNMP agent: net-snmp's snmpd, by v2c and v3, on a UDP port of 127.0.0.1. It tells of this machine.
#   snmpd.sh start DIR     starts it and writes DIR/lab.json: all that a client needs to know
#   snmpd.sh stop DIR      ends what start started; DIR stays, for its log
# README.md tells its users.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

COMMUNITY=lab-canary-community
AUTH=lab-canary-auth
PRIV=lab-canary-priv

configuration() {
    cat <<X
rocommunity $COMMUNITY 127.0.0.0/8
sysName agent1.lab.example
sysDescr a lab's agent
sysLocation rack 7
sysContact noc@lab.example
sysObjectID .1.3.6.1.4.1.8072.3.2.10
createUser nouser
createUser authuser SHA $AUTH
createUser privuser SHA-256 $AUTH AES $PRIV
createUser longuser SHA-512 $AUTH AES-256 $PRIV
createUser olduser MD5 $AUTH DES $PRIV
rouser nouser noauth
rouser authuser auth
rouser privuser priv
rouser longuser priv
rouser olduser priv
dontLogTCPWrappersConnects yes
X
}

lab_json() {
    cat <<X
{
  "host": "127.0.0.1",
  "port": $PORT,
  "community": "$COMMUNITY",
  "auth_password": "$AUTH",
  "priv_password": "$PRIV"
}
X
}

start() {
    need snmpd snmpd; need snmpget snmp
    stop
    claim_ports
    take_port
    while [ -n "$(ss -Huan "sport = :$PORT")" ]; do take_port; done
    # The agent writes its users' keys into its state: a new one has none of an earlier agent's.
    rm -rf "$DIR/state"
    mkdir "$DIR/state"
    configuration >"$DIR/snmpd.conf"
    launch snmpd "$PORT" env SNMP_PERSISTENT_DIR="$DIR/state" SNMPCONFPATH="$DIR" snmpd -f -Lo -C \
        -c "$DIR/snmpd.conf" -I -smux "udp:127.0.0.1:$PORT"
    answers snmpd snmpget -v2c -c "$COMMUNITY" -t 1 -r 0 "127.0.0.1:$PORT" 1.3.6.1.2.1.1.5.0
    lab_json >"$DIR/lab.json"
    say "ready after $SECONDS s: $DIR/lab.json"
}

stop() { end snmpd; rm -f "$DIR/lab.json"; }

. "$here/verbs.sh"
