#!/bin/bash
# Compares, in one run: a no-op remote task on many targets through one SSH proxy, and a bare loop of
# OpenSSH's client that runs the same script there over one shared connection, one after the other and
# as many at once as that carries. The proxy is one of the lab's hosts, on the loopback; needs root.
set -eu
cd "$(dirname "$0")/../.."
targets=${TARGETS:-500} at_once=${AT_ONCE:-100} devgate=${DEVGATE:-}
if [ -z "$devgate" ]; then
    cargo build --quiet --release --locked -p devgate
    devgate=$PWD/target/release/devgate
fi
dir=$(mktemp -d)
lab=$PWD/tests/lab/hosts.sh
# shellcheck disable=SC2329 # the trap calls it
stop() {
    [ ! -S "$dir/master" ] || ssh -S "$dir/master" -O exit proxy 2>/dev/null || true
    "$lab" stop "$dir/hosts" >/dev/null 2>&1
    rm -rf "$dir"
}
trap stop EXIT
"$lab" start "$dir/hosts" >/dev/null
field() { sed -n "/\"name\": \"h1\"/,/}/s/.*\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$dir/hosts/lab.json" | head -n 1; }
port=$(field port) log=$(field log)
key=$dir/hosts/id_ed25519 known=$dir/hosts/known_hosts

mkdir -p "$dir/project/modules/bench/tasks"
cd "$dir/project"
printf '#!/bin/sh\nexit 0\n' >modules/bench/tasks/noop.sh
echo '{"remote": true, "input_method": "stdin"}' >modules/bench/tasks/noop.json
{
    echo "version: 2"
    echo "targets:"
    echo "  - {name: proxy, config: {transport: ssh, ssh: {host: 127.0.0.1, port: $port, user: runner, private-key: $key, known-hosts-file: $known}}}"
    echo "groups:"
    echo "  - name: devices"
    echo "    config: {transport: remote, remote: {run-on: proxy, remote-transport: ssh_cli}}"
    echo "    targets:"
    for number in $(seq "$targets"); do echo "      - {name: d$number, uri: 'ssh://admin@10.0.$((number / 256)).$((number % 256))'}"; done
} >inventory.yaml

# A second's share is told by the shell's own `time`: of the client, and of all that it has started.
TIMEFORMAT='%R s wall, %U s user, %S s system'
logins() { grep -c 'Accepted publickey' "$log" || true; }

before=$(logins)
echo "devgate, $targets targets, $at_once at once:"
time "$devgate" task run bench::noop -t devices -c "$at_once" --format json --log-level error >result.json
echo "  $(($(logins) - before)) connections, $(grep -o '"status": *"success"' result.json | wc -l) successes"

ssh() { command ssh -S "$dir/master" -o BatchMode=yes -o UserKnownHostsFile="$known" -i "$key" -p "$port" -l runner "$@"; }
ssh -M -N -f -o HostName=127.0.0.1 proxy
ssh proxy "cat >/tmp/noop.sh && chmod 700 /tmp/noop.sh" <modules/bench/tasks/noop.sh
echo "ssh over one connection, $targets times the same script, one after the other:"
time for _ in $(seq "$targets"); do ssh proxy /tmp/noop.sh </dev/null; done
echo "ssh over one connection, $targets times the same script, 9 at once:"
export -f ssh
export dir known key port
time seq "$targets" | xargs -P 9 -I{} bash -c 'ssh proxy /tmp/noop.sh </dev/null'
