# Completions of devgate for bash. Words are taken from the line itself: bash takes them apart at colons.
_devgate() {
    local IFS=$' \t' line="${COMP_LINE:0:COMP_POINT}" words=()
    read -r -a words <<< "$line"
    case "$line" in *[[:space:]]) words+=("") ;; esac
    local index=$((${#words[@]} - 1))
    local current="${words[index]}"
    IFS=$'\013'
    COMPREPLY=($(
        DEVGATE_COMPLETE=bash _CLAP_IFS="$IFS" _CLAP_COMPLETE_INDEX="$index" \
            "${words[0]/#\~/$HOME}" -- "${words[@]}" 2> /dev/null
    ))
    # What stands before the last colon or equals sign is on the line already.
    local before="${current%"${current##*[:=]}"}"
    if [[ -n "$before" ]]; then
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
    if [[ "${COMPREPLY-}" =~ [=/:]$ ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
complete -o bashdefault -F _devgate devgate
