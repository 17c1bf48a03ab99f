"""The common part of programs for devgate. docs/external.md describes the contract.

A program calls `run(description, actions)`, where `actions` is a dict of functions: each takes the
input of its action and `say`, which reports events, and returns the action's results.
"""

import json
import sys


class Failed(Exception):
    """The failure of an action: a message for people, and a `kind` for programs."""

    def __init__(self, message, kind="panel/failed"):
        super().__init__(message)
        self.kind = kind


def run(description, actions):
    """Runs the action on the command line and ends the process."""
    action = sys.argv[1] if len(sys.argv) > 1 else "metadata"
    if action == "metadata":
        print(json.dumps(metadata(description, actions)))
    elif action == "serve":
        serve(actions)
    elif action in actions:
        sys.exit(once(actions[action]))
    else:
        sys.exit(f"expected one of {', '.join(actions)} or serve, not {action!r}")


def once(action):
    """Runs one action: reads one object from stdin and writes one to stdout."""
    events = []
    try:
        results = action(json.load(sys.stdin)["input"], events.append)
    except Failed as failure:
        results = {"_error": error(failure)}
    if events:
        results["events"] = events
    print(json.dumps(results))
    return 1 if "_error" in results else 0


def serve(actions):
    """Runs one action after the other. Each request, event and answer is one line."""

    def say(said):
        print(json.dumps({"id": request["id"], **said}), flush=True)

    for line in sys.stdin:
        request = json.loads(line)
        try:
            action = actions[request["action"]]
            say({"results": action(request["input"], lambda event: say({"event": event}))})
        except Failed as failure:
            say({"error": error(failure)})


def error(failure):
    return {"kind": failure.kind, "msg": str(failure)}


def metadata(description, actions):
    """Prints the metadata of a module for pxp-agent. devgate calls `schema` instead."""
    described = [
        {
            "name": name,
            "description": (action.__doc__ or name).strip(),
            "input": {"type": "object"},
            "results": {"type": "object"},
        }
        for name, action in actions.items()
    ]
    return {"description": description, "actions": described}
