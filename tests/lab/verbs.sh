# The verbs of a lab whose devices are processes of this machine. Source it last: start and stop are the script's own.

case ${1:-} in
start | stop)
    need_root
    [ -n "${2:-}" ] || die "usage: $0 $1 DIR"
    mkdir -p "$2" && DIR=$(cd "$2" && pwd -P) || die "cannot make $2"
    "$1"
    ;;
*) die "usage: $0 start|stop DIR" ;;
esac
