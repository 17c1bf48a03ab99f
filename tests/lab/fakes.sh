#!/bin/bash
# Simulators of devices that others have written: fakenos (the prompts of 41 platforms by SSH) and fake-switches
# (Cisco, Brocade and Dell switches by SSH and telnet, Juniper by NETCONF, Arista by eAPI), in one process.
#   fakes.sh start DIR     starts them and writes DIR/lab.json: all that a client needs to know
#   fakes.sh stop DIR      ends what start started; DIR stays, for its logs
#   fakes.sh status DIR    says whether they are up
# They are Python packages. The first start on a machine installs them from the index that pip knows, outside of
# the checkout; later ones find them there.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

PASSWORD=lab-canary-fake
ENABLE_PASSWORD=lab-canary-fake-enable
# More than fakes.py takes: one for each platform and switch, and those of telnet.
PORTS=64

# Where the packages are installed, by what is installed: other versions are another folder.
VENV=${XDG_CACHE_HOME:-$HOME/.cache}/devgate-lab/fakenos-1.2.1-fake-switches-1.5.0

# install: the packages, unless they are there. fake-switches asks for a Twisted that is too old to build, and goes
# with today's.
install() {
    local log=$DIR/pip.log
    [ -e "$VENV/complete" ] && return
    need python3 python3
    say "installing fakenos and fake-switches in $VENV"
    rm -rf "$VENV"
    python3 -m venv "$VENV" >"$log" 2>&1 || { tail -n 3 "$log" >&2; die "python3 -m venv: apt-get install -y --no-install-recommends python3-venv"; }
    pip() { "$VENV/bin/python" -m pip install -q --disable-pip-version-check --retries 1 --timeout 15 "$@" >>"$log" 2>&1; }
    pip fakenos==1.2.1 'Twisted[conch]>=23,<27' lxml netaddr tftpy service_identity && pip --no-deps fake-switches==1.5.0 ||
        { tail -n 3 "$log" >&2; die "pip cannot install them: the lab's simulators need a package index (PIP_INDEX_URL, or pip's configuration)"; }
    touch "$VENV/complete"
}

# ready: fakes.py writes lab.json when it listens.
ready() {
    noted "$DIR/process" >/dev/null || { tail -n 20 "$DIR/fakes.log" >&2; die "fakes.py ended while it started (log: $DIR/fakes.log)"; }
    [ -s "$DIR/lab.json" ]
}

start() {
    local port ports=()
    need ss iproute2
    stop
    # Another lab that starts at the same time waits: it must neither install the same nor take the same ports.
    mkdir -p "$TAKEN"
    exec 9>"$TAKEN.lock"
    flock 9
    install
    for port in $(seq $PORTS); do take_port; ports+=("$PORT"); done
    setsid "$VENV/bin/python" "$here/fakes.py" "$DIR" "$PASSWORD" "$ENABLE_PASSWORD" "${ports[@]}" \
        >"$DIR/fakes.log" 2>&1 </dev/null 9>&- &
    note_process $! "$DIR/process"
    for port in "${ports[@]}"; do cp "$DIR/process" "$TAKEN/$port"; done
    echo "${ports[@]}" >"$DIR/ports"
    wait_for 60 ready || die "fakes.py is not ready (log: $DIR/fakes.log)"
    say "fakenos and fake-switches are ready after $SECONDS s: $DIR/lab.json"
}

stop() {
    local pid port
    if pid=$(noted "$DIR/process"); then
        kill -KILL "$pid"
        wait_for 10 gone "$pid" || say "process $pid does not end"
        for port in $(cat "$DIR/ports"); do rm -f "$TAKEN/$port"; done
    fi
    rm -f "$DIR/process" "$DIR/lab.json"
}

status() { noted "$DIR/process" >/dev/null && echo "fakes up" || echo "fakes down"; }

case ${1:-} in
start | stop | status)
    [ -n "${2:-}" ] || die "usage: $0 $1 DIR"
    mkdir -p "$2" && DIR=$(cd "$2" && pwd -P) || die "cannot make $2"
    "$1"
    ;;
*) die "usage: $0 start|stop|status DIR" ;;
esac
