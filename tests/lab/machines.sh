# Machines of a lab: each is namespaces of its own, in which the script's `__init` starts what it consists of. Source it
# after lib.sh. Machine NAME lives in DIR/NAME, with logs in log/ and its servers' addresses in etc/.

# open_machine NAME WORD...: starts it; `__init DIR/NAME NAME WORD...` is its first process. Its ports are its own.
open_machine() {
    local name=$1 port
    setsid unshare --mount --uts --pid --fork --mount-proc --kill-child \
        "$0" __init "$DIR/$name" "$@" >>"$DIR/$name/log/init.log" 2>&1 </dev/null 9>&- &
    note_process $! "$DIR/$name/process"
    for port in $(ports_of "$DIR/$name"); do cp "$DIR/$name/process" "$TAKEN/$port"; done
}

# await_machines NAME...: waits until `ready NAME` succeeds for each.
await_machines() {
    local name
    for name; do
        wait_for 60 ready "$name" || { tail -n 20 "$DIR/$name"/log/*.log >&2; die "$name is not ready (logs: $DIR/$name/log)"; }
    done
}

# end_machine NAME: ends what open_machine has started. The kernel ends a process namespace with its first process.
end_machine() {
    local record=$DIR/$1/process pid
    if pid=$(noted "$record"); then
        kill -KILL "$pid"
        wait_for 10 gone "$pid" || say "process $pid does not end"
    fi
}

# end_machines: ends all, and gives their ports back.
end_machines() {
    local record port
    for record in "$DIR"/*/process; do
        if noted "$record" >/dev/null; then
            end_machine "$(basename "$(dirname "$record")")"
            for port in $(ports_of "$(dirname "$record")"); do rm -f "$TAKEN/$port"; done
        fi
        rm -f "$record"
    done
    rm -f "$DIR/lab.json"
}

# status: which of them are up.
status() {
    local home
    for home in "$DIR"/*/etc; do
        home=$(dirname "$home")
        noted "$home/process" >/dev/null && echo "$(basename "$home") up" || echo "$(basename "$home") down"
    done
}

# add_user D NAME UID GID HOME SHELL PASSWORD: a user of the machine in D who has the lab's keys. D/home/NAME is what the
# machine sees as HOME.
add_user() {
    local home=$1/home/$2
    echo "$2:x:$3:$4:lab:$5:$6" >>"$1/etc/passwd"
    grep -q "^[^:]*:[^:]*:$4:" "$1/etc/group" || echo "$2:x:$4:" >>"$1/etc/group"
    echo "$2:$(openssl passwd -6 "$7"):19000:0:99999:7:::" >>"$1/etc/shadow"
    mkdir -p "$home/.ssh"
    cat "$DIR"/id_*.pub >"$home/.ssh/authorized_keys"
    chown -R "$3:$4" "$home"
    chmod -R go= "$home"
}

# machine_verbs VERB DIR: the verbs of a lab of machines.
machine_verbs() {
    need_root
    [ -n "${2:-}" ] || die "usage: $0 $1 DIR"
    mkdir -p "$2" && DIR=$(cd "$2" && pwd -P) || die "cannot make $2"
    chmod 755 "$DIR" # the machines' users must reach their homes
    "$1"
}
