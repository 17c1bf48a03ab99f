#!/bin/bash
# Compares, in one run against one sshd on the loopback: OpenSSH's client, a bare russh program, and
# devgate's ssh_cli, each for connect, one command, close; and programs on one connection of devgate's
# with programs on one of OpenSSH's (ControlMaster), one at a time and ten. Needs sshd and ssh. Changes
# nothing outside of a temporary folder.
set -eu
cd "$(dirname "$0")/../.."
sshd=$(PATH=$PATH:/usr/sbin command -v sshd) || { echo "ssh.sh: sshd is missing: install openssh-server" >&2; exit 1; }
runs=${RUNS:-20} crowd=${CROWD:-200} programs=${PROGRAMS:-500}

dir=$(mktemp -d)
chmod 755 "$dir"
stop() {
    [ -z "${master:-}" ] || kill "$master" 2>/dev/null || true
    [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
    rm -rf "$dir"
}
trap stop EXIT

bench=$(cargo bench --quiet --locked -p devgate-transports --bench ssh --no-run --message-format=json |
    sed -n 's/.*"executable":"\([^"]*\/ssh-[^"]*\)".*/\1/p')
[ -x "$bench" ] || { echo "ssh.sh: the bench was not built" >&2; exit 1; }

ssh-keygen -q -t ed25519 -N '' -f "$dir/host"
ssh-keygen -q -t ed25519 -N '' -f "$dir/id"
# A prompt that costs the server next to nothing, with the terminal's own echo.
cat >"$dir/shell" <<'SHELL'
#!/bin/sh
if [ -n "${SSH_ORIGINAL_COMMAND:-}" ]; then exec $SSH_ORIGINAL_COMMAND; fi
while printf 'bench# ' && read -r line; do $line; done
SHELL
chmod 755 "$dir/shell"
export BENCH_USER=$(id -un) BENCH_KEY=$dir/id BENCH_KNOWN_HOSTS=$dir/known_hosts
for _ in 1 2 3 4 5; do
    BENCH_PORT=$((20000 + RANDOM % 10000))
    cat >"$dir/sshd_config" <<CONFIG
Port $BENCH_PORT
ListenAddress 127.0.0.1
HostKey $dir/host
AuthorizedKeysFile $dir/id.pub
PidFile none
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PermitRootLogin prohibit-password
PrintMotd no
MaxStartups 1000
MaxSessions 100
PerSourcePenalties no
SetEnv SHLVL=2
ForceCommand $dir/shell
CONFIG
    # Older servers do not know penalties.
    "$sshd" -t -f "$dir/sshd_config" 2>/dev/null || sed -i '/PerSourcePenalties/d' "$dir/sshd_config"
    [ -d /run/sshd ] || mkdir -p /run/sshd
    "$sshd" -D -f "$dir/sshd_config" 2>"$dir/log" &
    server=$!
    for _ in $(seq 50); do
        (exec 3<>"/dev/tcp/127.0.0.1/$BENCH_PORT") 2>/dev/null && break 2
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
done
export BENCH_PORT
echo "[127.0.0.1]:$BENCH_PORT $(cut -d' ' -f1,2 "$dir/host.pub")" >"$dir/known_hosts"

openssh() {
    ssh -F none -i "$dir/id" -p "$BENCH_PORT" -o UserKnownHostsFile="$dir/known_hosts" \
        -o IdentitiesOnly=yes -o LogLevel=ERROR "$@" 127.0.0.1 echo hello >/dev/null
}
# measure NAME COMMAND...: the CPU and wall time of one run, the mean of $runs.
measure() {
    local name=$1 TIMEFORMAT='%U %S %R'
    shift
    { time for _ in $(seq "$runs"); do "$@"; done; } 2>&1 |
        awk -v n="$runs" -v name="$name" '{ printf "process %-22s cpu_ms %7.3f wall_ms %7.3f\n", name, ($1 + $2) * 1000 / n, $3 * 1000 / n }'
}
# ticks PID: the CPU time of a process, in hundredths of a second.
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
# mux WIDTH: programs over the master's connection; its CPU time and that of each program's client.
mux() {
    local TIMEFORMAT='%U %S %R' before one
    one=(ssh -F none -S "$dir/mux" 127.0.0.1 true)
    before=$(ticks "$master")
    { time seq "$programs" | xargs -P "$1" -I{} "${one[@]}"; } 2>&1 |
        awk -v n="$programs" -v width="$1" -v before="$before" -v after_file="/proc/$master/stat" '
            { user = $1; system_ = $2; wall = $3 }
            END {
                getline stat < after_file; split(stat, field, " ")
                cpu = (user + system_) * 1000 + (field[14] + field[15] - before) * 10
                printf "program mux-%s cpu_ms %.4f wall_ms %.4f\n", width, cpu / n, wall * 1000 / n
            }'
}
ssh -F none -i "$dir/id" -p "$BENCH_PORT" -o UserKnownHostsFile="$dir/known_hosts" -o IdentitiesOnly=yes \
    -o LogLevel=ERROR -o KexAlgorithms=curve25519-sha256 -M -S "$dir/mux" -N 127.0.0.1 &
master=$!
for _ in $(seq 50); do [ -S "$dir/mux" ] && break; sleep 0.1; done
[ -S "$dir/mux" ] || { echo "ssh.sh: the master does not start" >&2; exit 1; }
{
    for _ in 1 2 3; do
        for width in 1 10; do
            mux "$width"
            "$bench" programs "$programs" "$width"
        done
    done
    for _ in 1 2 3; do
        measure openssh openssh
        measure openssh-curve25519 openssh -o KexAlgorithms=curve25519-sha256
        measure bare "$bench" once bare
        measure ours "$bench" once ours
    done
    "$bench" sequence
    for _ in 1 2 3; do
        for who in bare ours; do echo "$who $("$bench" crowd "$who" "$crowd")"; done
    done
} | tee "$dir/figures"

awk '
    function median(list, n,   i, j, t) {
        for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] < list[j-1]; j--) { t = list[j]; list[j] = list[j-1]; list[j-1] = t }
        return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
    }
    function add(what, value) { count[what]++; value_of[what, count[what]] = value }
    function mid(what,   i, list) { for (i = 1; i <= count[what]; i++) list[i] = value_of[what, i] + 0; return median(list, count[what]) }
    function ratio(label, what, ours, other) { printf "%-52s %.2f (%.3f / %.3f)\n", label, mid(ours) / mid(other), mid(ours), mid(other) }
    $1 == "process"  { add("process cpu " $2, $4); add("process wall " $2, $6) }
    $1 == "sequence" { add("sequence cpu " $3, $5); add("sequence wall " $3, $7) }
    $1 == "program"  { add("program cpu " $2, $4); add("program wall " $2, $6) }
    $1 == "command"  { add("command cpu " $2, $4); add("command wall " $2, $6) }
    $2 == "crowd"    { add("crowd cpu " $1, $5); add("crowd kib " $1, $9); add("crowd peak " $1, $11) }
    END {
        print "\nmedians, ours / other:"
        ratio("a program, one at a time, CPU ms, to ssh -S", "", "program cpu ours-1", "program cpu mux-1")
        ratio("a program, one at a time, wall ms, to ssh -S", "", "program wall ours-1", "program wall mux-1")
        ratio("a program, ten at a time, CPU ms, to ssh -S", "", "program cpu ours-10", "program cpu mux-10")
        ratio("a program, ten at a time, wall ms, to ssh -S", "", "program wall ours-10", "program wall mux-10")
        ratio("a process, CPU ms, to bare russh", "", "process cpu ours", "process cpu bare")
        ratio("a process, CPU ms, to OpenSSH", "", "process cpu ours", "process cpu openssh")
        ratio("a process, CPU ms, to OpenSSH with curve25519", "", "process cpu ours", "process cpu openssh-curve25519")
        ratio("a process, wall ms, to OpenSSH", "", "process wall ours", "process wall openssh")
        ratio("a session in a process, CPU ms, to bare russh", "", "sequence cpu ours", "sequence cpu bare")
        ratio("a session in a process, wall ms, to bare russh", "", "sequence wall ours", "sequence wall bare")
        ratio("a command, CPU ms, to bare russh", "", "command cpu ours", "command cpu bare")
        ratio("a command, wall ms, to bare russh", "", "command wall ours", "command wall bare")
        ratio("many at once, CPU ms a session, to bare russh", "", "crowd cpu ours", "crowd cpu bare")
        ratio("many at once, KiB a session, to bare russh", "", "crowd kib ours", "crowd kib bare")
        ratio("many at once, peak MiB, to bare russh", "", "crowd peak ours", "crowd peak bare")
    }' "$dir/figures"
