#!/bin/sh
# The devgate of a task on a proxy that has no session with its device: it says why.
why="this task has no session with its device: "@WHY@
if [ "$1" != session ]; then
    # Another devgate on the PATH may know what this one does not.
    set -f
    own=${0%/*} rest=$PATH:
    while [ "$rest" ]; do
        folder=${rest%%:*} rest=${rest#*:}
        case $folder in "" | "$own") continue ;; esac
        [ -x "$folder/devgate" ] && [ ! -d "$folder/devgate" ] && exec "$folder/devgate" "$@"
    done
    why="\`devgate $*\` is not known here, and $why"
fi
printf '%s\n' "error: $why" >&2
exit 1
