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
  "process": "$DIR/process",
  "community": "$COMMUNITY",
  "auth_password": "$AUTH",
  "priv_password": "$PRIV"
}
X
}

start() {
    need snmpd snmpd; need snmpget snmp
    stop
    mkdir -p "$TAKEN" "$DIR/state"
    exec 9>"$TAKEN.lock"
    flock 9
    take_port
    while [ -n "$(ss -Huan "sport = :$PORT")" ]; do take_port; done
    # The agent writes its users' keys into its state: a new one has none of an earlier agent's.
    rm -rf "$DIR/state"
    mkdir "$DIR/state"
    configuration >"$DIR/snmpd.conf"
    SNMP_PERSISTENT_DIR=$DIR/state SNMPCONFPATH=$DIR setsid snmpd -f -Lf "$DIR/snmpd.log" -C -c "$DIR/snmpd.conf" \
        -I -smux "udp:127.0.0.1:$PORT" >"$DIR/snmpd.out" 2>&1 </dev/null 9>&- &
    note_process $! "$DIR/process"
    cp "$DIR/process" "$TAKEN/$PORT"
    wait_for 20 snmpget -v2c -c "$COMMUNITY" -t 1 -r 0 "127.0.0.1:$PORT" 1.3.6.1.2.1.1.5.0 ||
        { tail -n 20 "$DIR"/snmpd.{log,out} >&2; die "snmpd is not ready (logs: $DIR)"; }
    lab_json >"$DIR/lab.json"
    say "ready after $SECONDS s: $DIR/lab.json"
}

stop() {
    local pid
    if pid=$(noted "$DIR/process"); then
        kill -CONT "$pid"
        kill -TERM "$pid"
        wait_for 5 gone "$pid" || kill -KILL "$pid"
        wait_for 5 gone "$pid" || say "process $pid does not end"
        rm -f "$TAKEN/$(sed -n 's/.*"port": \([0-9]*\).*/\1/p' "$DIR/lab.json" 2>/dev/null)"
    fi
    rm -f "$DIR/process" "$DIR/lab.json"
}

case ${1:-} in
start | stop)
    [ -n "${2:-}" ] || die "usage: $0 $1 DIR"
    mkdir -p "$2" && DIR=$(cd "$2" && pwd -P) || die "cannot make $2"
    "$1"
    ;;
*) die "usage: $0 start|stop DIR" ;;
esac
