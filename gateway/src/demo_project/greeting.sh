#!/bin/bash
# A remote task in a few lines: parameters and _target come as JSON on stdin, the result goes to stdout.
input=$(cat)
field() { sed -E "s/.*\"$1\": *\"?([^\",}]*).*/\1/" <<<"$input"; }
whom=$(field whom) host=$(field host) port=$(field port)
exec 3<>"/dev/tcp/$host/$port" && read -r greeting <&3
printf '{"hello": "%s", "device": "%s:%s", "greeting": "%s"}\n' "$whom" "$host" "$port" "${greeting%$'\r'}"
