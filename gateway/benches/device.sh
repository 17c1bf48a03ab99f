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
cost=$PWD/gateway/benches/cost.py lab=$PWD/tests/lab/pdns.sh module=$PWD/tests/ruby/pdns
# shellcheck disable=SC2329 # the trap calls it
stop() {
    for device in "$dir"/ns*/; do "$lab" stop "$device" >/dev/null 2>&1 || true; done
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

puppet=(puppet device --confdir "$dir/conf" --codedir "$dir/code" --vardir "$dir/var" --logdir "$dir/log"
    --rundir "$dir/run" --publicdir "$dir/public" --libdir "$module/lib" --deviceconfig "$PWD/pdns.conf")
ruby=("$devgate" device --deviceconfig "$PWD/pdns.conf")
declared=("$devgate" device --deviceconfig "$PWD/powerdns.conf")
"${declared[@]}" --apply powerdns.pp --log-level error >/dev/null

group() {
    first=
    echo "$1"
}
# measure NAME TIMES COMMAND...: the first of a group is what the others are compared with.
measure() {
    local name=$1 cpu wall peak
    shift
    read -r cpu wall peak < <("$cost" "$@")
    first=${first:-$cpu}
    awk -v name="$name" -v cpu="$cpu" -v wall="$wall" -v peak="$peak" -v first="$first" 'BEGIN {
        printf "  %-28s %8.3f s CPU %8.2f s wall %6d MB %8.1f times less CPU\n", name, cpu, wall, peak, first / cpu }'
}

# Ends with another code than 0 where anything is to be changed.
quiet=(--detailed-exitcodes --log-level error --format json)
group "the facts of one device"
measure "puppet device" "$rounds" "${puppet[@]}" --target ns1 --facts
measure "devgate, the Ruby module" "$rounds" "${ruby[@]}" --target ns1 --facts
measure "devgate, declared types" 11 "${declared[@]}" --target ns1 --facts
group "one device, $records records and their zone, nothing to change"
measure "puppet device" "$rounds" "${puppet[@]}" --target ns1 --apply pdns.pp
measure "devgate, the Ruby module" "$rounds" "${ruby[@]}" --target ns1 --apply pdns.pp "${quiet[@]}"
measure "devgate, declared types" 11 "${declared[@]}" --target ns1 --apply powerdns.pp "${quiet[@]}"
group "$devices devices, $records records and their zone each, nothing to change"
# It applies a file to one device a call.
one_by_one='devices=$0; for number in $(seq "$devices"); do "$@" --target "ns$number" --apply pdns.pp || exit; done'
measure "puppet device, one by one" 1 bash -c "$one_by_one" "$devices" "${puppet[@]}"
measure "devgate, the Ruby module" "$rounds" "${ruby[@]}" --apply pdns.pp "${quiet[@]}"
measure "devgate, declared types" 11 "${declared[@]}" --apply powerdns.pp "${quiet[@]}"
