#!/bin/bash
# Compares, in one run on this node: a no-op remote task on many targets, and a bare loop of fork and
# exec of the same script, so many at once. Then many tasks that sleep, and many more targets that
# wait for their turn. Changes nothing outside of a temporary folder.
set -eu
cd "$(dirname "$0")/../.."
targets=${TARGETS:-500} at_once=${AT_ONCE:-100} crowd=${CROWD:-10000} runs=${RUNS:-5}

cargo build --quiet --release --locked -p devgate
devgate=$PWD/target/release/devgate
bench=$(cargo bench --quiet --locked -p devgate --bench tasks --no-run --message-format=json |
    sed -n 's/.*"executable":"\([^"]*\/tasks-[^"]*\)".*/\1/p')
[ -x "$bench" ] || { echo "tasks.sh: the bench was not built" >&2; exit 1; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p modules/bench/tasks
printf '#!/bin/sh\nexit 0\n' >modules/bench/tasks/noop.sh
printf '#!/bin/sh\nexec sleep 1\n' >modules/bench/tasks/sleep.sh
echo '{"remote": true, "input_method": "stdin"}' >modules/bench/tasks/sleep.json
cp modules/bench/tasks/sleep.json modules/bench/tasks/noop.json
chmod 755 modules/bench/tasks/*.sh
# inventory FILE COUNT: remote targets whose transport is known, so that their info is checked.
inventory() {
    echo 'version: 2'
    echo 'config: {transport: remote, remote: {remote-transport: ssh_cli, password: secret}}'
    echo 'targets:'
    for number in $(seq "$1"); do
        echo "  - uri: ssh://admin@10.$((number / 65536)).$((number / 256 % 256)).$((number % 256))"
    done
}
inventory "$targets" >inventory.yaml
inventory "$crowd" >crowd.yaml
inventory 1 >one.yaml
task() {
    "$bench" measure "$devgate" task run "bench::$1" -t all --format json --log-level error "${@:2}"
}
{
    for _ in $(seq "$runs"); do
        echo "bare $("$bench" measure "$bench" loop "$targets" "$at_once" "$dir/modules/bench/tasks/noop.sh")"
        echo "ours $(task noop -c "$at_once")"
        echo "one $(task noop -i one.yaml)"
    done
    # More files than most shells allow are open at once.
    ulimit -n 16384 2>/dev/null || true
    echo "sleep $(task sleep -c "$targets")"
    echo "crowd $(task noop -i crowd.yaml -c "$at_once")"
} | tee "$dir/figures"

awk -v targets="$targets" -v crowd="$crowd" '
    function median(list, n,   i, j, t) {
        for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] < list[j-1]; j--) { t = list[j]; list[j] = list[j-1]; list[j-1] = t }
        return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
    }
    function mid(what,   i, list) { for (i = 1; i <= count[what]; i++) list[i] = value[what, i]; return median(list, count[what]) }
    function add(what, number) { value[what, ++count[what]] = number + 0 }
    $5 != 0 { print "tasks.sh: a run has failed: " $0 > "/dev/stderr"; bad = 1 }
    { add($1 " cpu", $2); add($1 " wall", $3); add($1 " peak", $4) }
    END {
        printf "\nmedians of a run with %d targets\n", targets
        printf "%-44s %.2f (%.0f / %.0f)\n", "CPU ms, ours to bare fork and exec", mid("ours cpu") / mid("bare cpu"), mid("ours cpu"), mid("bare cpu")
        printf "%-44s %.2f (%.0f / %.0f)\n", "wall ms, ours to bare fork and exec", mid("ours wall") / mid("bare wall"), mid("ours wall"), mid("bare wall")
        printf "%-44s %.3f\n", "CPU ms a target beyond the bare loop", (mid("ours cpu") - mid("bare cpu")) / targets
        printf "%-44s %.0f\n", "CPU ms of a run with one target", mid("one cpu")
        printf "%-44s %.0f\n", "peak MiB", mid("ours peak")
        printf "%-44s %.0f\n", targets " tasks that sleep 1 s at once, wall ms", mid("sleep wall")
        printf "%-44s %.0f\n", crowd " targets, peak MiB", mid("crowd peak")
        printf "%-44s %.0f\n", crowd " targets, CPU ms", mid("crowd cpu")
        exit bad
    }' "$dir/figures"
