#!/bin/sh
echo "before it failed"
echo "why it failed" >&2
exit 7
