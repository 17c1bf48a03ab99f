#!/bin/bash
# What it costs to read an inventory of 25,000 targets: in 250 groups, each target with a URI, an alias, and config,
# vars and facts of its own. Chooses one group of them, then all.
#
# gateway/benches/inventory.sh [TARGETS]     needs: cargo, GNU time
set -euo pipefail
cd "$(dirname "$0")/../.."
count=${1:-25000}
cargo build --quiet --release -p devgate
devgate=$PWD/target/release/devgate
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

awk -v count="$count" 'BEGIN {
    print "version: 2\nconfig:\n  transport: remote\n  remote:\n    user: ops\n    connect_timeout: 10\ngroups:"
    for (group = 0; group < 250; group++) {
        printf "  - name: site%d\n    vars:\n      site: s%d\n    config:\n      remote:\n", group, group
        print "        remote-transport: frr\n        port: 22\n    targets:"
        for (t = 0; t < count / 250; t++) {
            printf "      - name: r%d-%d\n        uri: 10.%d.%d.%d\n", group, t, group, t / 256, t % 256
            printf "        alias: [a%d-%d]\n        config:\n          remote:\n", group, t
            printf "            user: u%d\n            password: secret-%d-%d\n", t, group, t
            printf "        vars:\n          rack: %d\n", t % 40
            printf "        facts:\n          os: {family: frr, release: \"10.%d\"}\n", t % 5
        }
    }
}' >inventory.yaml

for targets in site0 all; do
    command time -f "$targets: %e s, CPU %U s + %S s, %M KB" "$devgate" inventory show -t "$targets" >shown
    tail -1 shown
done
