#!/usr/bin/env python3
"""What a command costs: `cost.py TIMES COMMAND...` prints medians of CPU and wall time of so many runs, in seconds, and
the most memory that it held in one more, in MiB.

CPU and memory are those of all processes, those that it leaves behind included: these are waited for. What
processes share counts once. Ends with 1, and what it said, where the command fails, or says `Error:`.
"""

import ctypes
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def shown(path, names=False):
    """What /proc shows there: the text of a file, or the names in a folder. Nothing once its process has ended."""
    try:
        return os.listdir(path) if names else Path(path).read_text()
    except OSError:
        return [] if names else ""


def held(pid):
    """What the descendants of a process hold now, in KiB."""
    total = 0
    for task in shown(f"/proc/{pid}/task", names=True):
        for child in shown(f"/proc/{pid}/task/{task}/children").split():
            lines = shown(f"/proc/{child}/smaps_rollup").splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
            total += held(child)
    return total


def cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command, watched=False):
    """CPU, wall time, and memory where it is watched."""
    with tempfile.TemporaryFile() as said:
        out = [(os.POSIX_SPAWN_DUP2, said.fileno(), 1), (os.POSIX_SPAWN_DUP2, said.fileno(), 2)]
        before, began, most = cpu(), time.monotonic(), 0
        main = os.posix_spawnp(command[0], command, os.environ, file_actions=out)
        wall = code = None
        while True:
            try:
                ended, status = os.waitpid(-1, os.WNOHANG if watched else 0)
            except ChildProcessError:
                break
            if ended == main:
                wall, code = time.monotonic() - began, os.waitstatus_to_exitcode(status)
            elif ended == 0:
                most = max(most, held(os.getpid()))
        said.seek(0)
        text = said.read().decode(errors="replace")
    if code != 0 or "Error:" in text:
        sys.exit(f"{' '.join(command)}: exit code {code}\n{text}")
    return cpu() - before, wall, most


def main():
    times, command = int(sys.argv[1]), sys.argv[2:]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    runs = [run(command) for _ in range(times)]
    _, _, most = run(command, watched=True)
    print(*(f"{statistics.median(column):.4f}" for column in zip(*(one[:2] for one in runs))), most // 1024)


main()
