# What the lab's scripts share. Source it: it defines functions only.
set -u
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin:/usr/lib/frr

ME=$(basename "$0" .sh)
say() { echo "$ME: $*" >&2; }
die() { echo "$ME: FAILED: $*" >&2; exit 1; }

need_root() { [ "$(id -u)" = 0 ] || die "must run as root: it makes namespaces and users of its own"; }

# need COMMAND PACKAGE: the command must exist.
need() { command -v "$1" >/dev/null || die "'$1' is missing: apt-get install -y --no-install-recommends $2"; }

# wait_for SECONDS COMMAND...: polls until the command succeeds.
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}

# A process is known by its pid and its start time: a pid alone may have been given to somebody else since.
start_time() { awk '{print $22}' "/proc/$1/stat" 2>/dev/null; }
note_process() { echo "$1 $(start_time "$1")" >"$2"; }
noted() { # FILE -> the pid, if that very process still runs
    local pid since
    [ -s "$1" ] && read -r pid since <"$1" || return 1
    [ -n "$since" ] && [ "$(start_time "$pid")" = "$since" ] && echo "$pid"
}
# gone PID: it has ended, even if whoever inherited it has not taken note yet.
gone() { [ ! -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

# take_port: sets PORT to the next one below the ephemeral range that no socket uses and no other lab has, whose
# server may be away just now. The kernel gives ports of that range to clients, and a server cannot bind one that a
# client holds.
TAKEN=/run/lock/devgate-lab-ports
NEXT_PORT=${LAB_FIRST_PORT:-22000}
take_port() {
    while [ -n "$(ss -Htan "sport = :$NEXT_PORT")" ] || noted "$TAKEN/$NEXT_PORT" >/dev/null; do
        NEXT_PORT=$((NEXT_PORT + 1))
    done
    PORT=$NEXT_PORT
    NEXT_PORT=$((NEXT_PORT + 1))
}

# ports_of DEVICE: the ports of its servers.
ports_of() {
    sed -n 's/^ListenAddress .*://p' "$1"/etc/*.conf
    cat "$1/etc/vty.port" 2>/dev/null
}

# claim_ports: until this script ends, no other lab takes the ports that are found free here.
claim_ports() {
    mkdir -p "$TAKEN"
    exec 9>"$TAKEN.lock"
    flock 9
}

# launch NAME PORTS COMMAND...: starts a server; its ports are its own from now on.
launch() {
    local name=$1 ports=$2 port
    shift 2
    setsid "$@" >"$DIR/$name.log" 2>&1 </dev/null 9>&- &
    note_process $! "$DIR/$name.process"
    echo "$ports" >"$DIR/$name.ports"
    for port in $ports; do cp "$DIR/$name.process" "$TAKEN/$port"; done
}

# answers NAME COMMAND...: waits until a client's command succeeds.
answers() {
    local name=$1
    shift
    wait_for 30 "$@" || { tail -n 20 "$DIR/$name.log" >&2; die "$name does not answer (log: $DIR/$name.log)"; }
    noted "$DIR/$name.process" >/dev/null || die "$name has ended (log: $DIR/$name.log)"
}

# end NAME: ends what launch has started.
end() {
    local pid port
    if pid=$(noted "$DIR/$1.process"); then
        kill -KILL "$pid"
        wait_for 10 gone "$pid" || say "process $pid does not end"
        for port in $(cat "$DIR/$1.ports"); do rm -f "$TAKEN/$port"; done
    fi
    rm -f "$DIR/$1.process" "$DIR/$1.ports"
}
