"""What every program for devgate does the same way: see docs/external.md for the contract.

A program calls `run(description, actions)`, where `actions` is a dict of functions: each takes the
input of its action and `say`, by which it tells what happens, and returns the action's results.
"""

import json
import sys


class Failed(Exception):
    """Why an action has no results, for people; `kind` is for programs."""

    def __init__(self, message, kind="panel/failed"):
        super().__init__(message)
        self.kind = kind


def run(description, actions):
    """Does what the command line names, and ends the process."""
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
    """One action in this process: one object on stdin, one on stdout."""
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
    """One action after the other: a request is a line, and so is each event, and the answer."""

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
    """What a module of pxp-agent says of itself; devgate asks for `schema` instead."""
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
