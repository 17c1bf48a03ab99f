#!/bin/bash
# How much memory idle sessions take: one run over targets that are each named twice, so that the pool
# keeps the session of the first name for the second, with as many practice switches as that needs, on
# the loopback. Tells what devgate holds when all are open, then interrupts it.
set -eu
cd "$(dirname "$0")/../.."
sessions=${SESSIONS:-2000} at_once=${AT_ONCE:-50} each=60 devgate=${DEVGATE:-}
if [ -z "$devgate" ]; then
    cargo build --quiet --release --locked -p devgate
    devgate=$PWD/target/release/devgate
fi
dir=$(mktemp -d)
switches=()
# shellcheck disable=SC2329 # the trap calls it
stop() {
    [ ${#switches[@]} = 0 ] || kill "${switches[@]}" 2>/dev/null || true
    wait
    rm -rf "$dir"
}
trap stop EXIT
cd "$dir"
count=$(((sessions + each - 1) / each))
for number in $(seq "$count"); do
    "$devgate" practice --port 0 >"$number.said" 2>&1 &
    switches+=($!)
done
for number in $(seq "$count"); do
    until grep -q '^  ssh' "$number.said"; do sleep 0.1; done
done
grep -h '^\[' ./*.said >known_hosts

# A setting of its own makes each session one that nobody shares but the same target's other name.
target() {
    local switch=$(($1 % count + 1)) port
    port=$(sed -n 's/^The practice switch listens on .*:\([0-9]*\) .*/\1/p' "$switch.said")
    echo "  - {name: $2$1, config: {transport: remote, remote: {remote-transport: practice, host: 127.0.0.1, port: $port, command_timeout: $((600 + $1))}}}"
}
{
    echo "version: 2"
    echo "config: {transport: remote, remote: {user: admin, password: let-me-in, enable_password: let-me-configure, known_hosts_file: $dir/known_hosts, session-limit: 64}}"
    echo "targets:"
    for number in $(seq "$sessions"); do target "$number" first; done
    for number in $(seq "$sessions"); do target "$number" second; done
} >inventory.yaml

"$devgate" verify -t all -c "$at_once" --format json --log-level error >result.json &
run=$! open=0 memory=
while [ "$open" -lt "$sessions" ] && kill -0 "$run" 2>/dev/null; do
    sleep 0.2
    open=$(find "/proc/$run/fd" -lname 'socket:*' 2>/dev/null | wc -l)
    memory=$(grep -E '^Vm(RSS|HWM)' "/proc/$run/status" 2>/dev/null | tr -s '\t\n ' ' ') || true
done
echo "$open sockets open: $memory"
kill -INT "$run" 2>/dev/null || true
wait "$run" || true
echo "$(grep -o '"status": *"success"' result.json | wc -l) successes before it was interrupted"
