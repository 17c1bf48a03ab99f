#!/bin/bash
# Compares, in one run: `puppet device`, devgate with the very same Ruby module, and devgate with its declared
# family `powerdns`: one device's facts, one device with nothing to change, many devices with nothing to change.
# Each device is a PowerDNS of the lab (60 MB) with a zone of RECORDS records. CPU is that of all processes but the
# devices', memory what they hold together at most, where what they share counts once. Needs root.
#   ROUNDS=3 DEVICES=20 RECORDS=10 DEVGATE=target/release/devgate gateway/benches/device.sh
set -eu
cd "$(dirname "$0")/../.."
rounds=${ROUNDS:-3} devices=${DEVICES:-20} records=${RECORDS:-10} devgate=${DEVGATE:-}
need() { PATH=$PATH:/usr/sbin command -v "$1" >/dev/null || { echo "$1 is missing: apt-get install $2" >&2; exit 1; }; }
need puppet puppet-agent
ruby -e 'require "puppet/resource_api/version"' 2>/dev/null || need puppet-resource_api ruby-puppet-resource-api
need pdns_server "pdns-server pdns-backend-sqlite3"
if [ -z "$devgate" ]; then
    cargo build --quiet --release --locked -p devgate
    devgate=target/release/devgate
fi
devgate=$(realpath "$devgate")
dir=$(mktemp -d)
lab=$PWD/tests/lab/pdns.sh module=$PWD/tests/ruby/pdns
# shellcheck disable=SC2329 # the trap calls it
stop() {
    for device in "$dir"/ns*/; do "$lab" stop "$device" >/dev/null 2>&1; done
    rm -rf "$dir"
}
trap stop EXIT
field() { sed -n "s/.*\"$2\": \"\{0,1\}\([^\",]*\).*/\1/p" "$1/lab.json"; }

mkdir -p "$dir/project/modules" "$dir/home"
cd "$dir/project"
export HOME=$dir/home
ln -s "$module" modules/pdns
for number in $(seq "$devices"); do
    device=$dir/ns$number
    "$lab" start "$device" 2>/dev/null
    printf '{ "protocol": "http", "host": "%s", "port": %s, "apikey": "%s" }\n' \
        "$(field "$device" host)" "$(field "$device" port)" "$(field "$device" key)" >"$device.conf"
    chmod 600 "$device.conf"
    for type in pdns powerdns; do
        printf '[ns%s]\n  type %s\n  url file://%s\n' "$number" "$type" "$device.conf" >>"$type.conf"
    done
done
for type in pdns powerdns; do
    {
        echo "${type}_zone { 'bench.example': kind => 'Native', nameservers => ['ns1.bench.example.'] }"
        for number in $(seq "$records"); do
            title="h$number.bench.example A" zone="zone => 'bench.example', "
            [ "$type" = pdns ] || title+=" in bench.example" zone=
            echo "${type}_record { '$title': ${zone}content => ['192.0.2.$((number % 256))'], ttl => 60 }"
        done
    } >"$type.pp"
done

puppet() {
    command puppet device --confdir "$dir/conf" --codedir "$dir/code" --vardir "$dir/var" --logdir "$dir/log" \
        --rundir "$dir/run" --publicdir "$dir/public" --libdir "$module/lib" --deviceconfig "$PWD/pdns.conf" "$@"
}
ours() { local type=$1; shift; "$devgate" device --deviceconfig "$PWD/$type.conf" "$@"; }
all() { for number in $(seq "$devices"); do puppet --target "ns$number" --apply pdns.pp; done; }

# held PID: what the descendants of a process hold now, in KiB; each shares what it shares.
held() {
    local child file key value
    for file in /proc/"$1"/task/*/children; do
        for child in $(<"$file"); do
            while read -r key value _; do [ "$key" != Pss: ] || sum=$((sum + value)); done <"/proc/$child/smaps_rollup"
            held "$child"
        done
    done 2>/dev/null
}
# peak COMMAND...: the most that it held, looked at as often as the shell can.
peak() {
    local most=0 sum
    ("$@" >/dev/null 2>&1; true) &
    while kill -0 $! 2>/dev/null; do
        sum=0
        held $!
        [ "$sum" -le "$most" ] || most=$sum
    done
    wait
    echo $((most / 1024))
}
median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
TIMEFORMAT='%R %U %S'
# measure NAME TIMES COMMAND...: medians of so many runs. The first of a group is what the others are compared with.
measure() {
    local name=$1 times=$2 cpu wall
    shift 2
    : >times
    for _ in $(seq "$times"); do
        { time "$@" >out 2>err || fail "$name"; } 2>>times
        ! grep -q 'Error:' out err || fail "$name"
    done
    cpu=$(awk '{ print $2 + $3 }' times | median) wall=$(cut -d' ' -f1 times | median)
    [ -n "$puppet" ] || puppet=$cpu
    awk -v name="$name" -v cpu="$cpu" -v wall="$wall" -v peak="$(peak "$@")" -v puppet="$puppet" 'BEGIN {
        printf "  %-28s %8.3f s CPU %8.2f s wall %6d MB %8.1f times less CPU\n", name, cpu, wall, peak, puppet / cpu }'
}
fail() {
    echo "$1 failed:" >&2
    cat out err >&2
    exit 1
}
group() {
    puppet=
    echo "$1"
}

quiet=(--detailed-exitcodes --log-level error --format json)
ours powerdns --apply powerdns.pp --log-level error >/dev/null
group "the facts of one device"
measure "puppet device" "$rounds" puppet --target ns1 --facts
measure "devgate, the Ruby module" "$rounds" ours pdns --target ns1 --facts
measure "devgate, declared types" 11 ours powerdns --target ns1 --facts
group "one device, $records records and their zone, nothing to change"
measure "puppet device" "$rounds" puppet --target ns1 --apply pdns.pp
measure "devgate, the Ruby module" "$rounds" ours pdns --target ns1 --apply pdns.pp "${quiet[@]}"
measure "devgate, declared types" 11 ours powerdns --target ns1 --apply powerdns.pp "${quiet[@]}"
group "$devices devices, $records records and their zone each, nothing to change"
measure "puppet device, one by one" 1 all
measure "devgate, the Ruby module" "$rounds" ours pdns --apply pdns.pp "${quiet[@]}"
measure "devgate, declared types" 11 ours powerdns --apply powerdns.pp "${quiet[@]}"
