#!/usr/bin/env python3
# The devgate of a task on a proxy: `devgate session exec`, `get` and `set` in the session that DEVGATE_SESSION names. It
# sends requests of the session protocol and nothing else. devgate.pl is the same program in Perl.
import json
import os
import re
import socket
import sys

HELP = """\
devgate @VERSION@ for tasks on a proxy: it uses the open session with the task's device.

Usage:
  devgate session exec [--answer TEXT]... [--noop] COMMAND...
  devgate session exec --config [--save] [--noop] LINE...
  devgate session get WHAT
  devgate session set [--method METHOD] [--noop] WHAT [BODY]

`-` instead of COMMAND, LINE or BODY reads standard input.
The session is on the node that runs devgate, and ends with the task.
Another devgate on the PATH gets the commands that are not known here.
"""
LARGEST = 64 << 20
given = sys.argv[1:]
wire = None


def fail(text):
    text = re.sub("[\x00-\x08\x0b-\x1f\x7f]", "?", text)
    sys.stdout.flush()
    sys.stderr.buffer.write(("error: %s\n" % text).encode("utf-8", "surrogateescape"))
    sys.exit(1)


class Number(str):
    """A number as it is written."""


def pretty(value, indent=""):
    inner = indent + "  "
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, list) and value:
        items, ends = [pretty(item, inner) for item in value], "[]"
    elif isinstance(value, dict) and value:
        items, ends = [json.dumps(key, ensure_ascii=False) + ": " + pretty(item, inner) for key, item in value.items()], "{}"
    else:
        return json.dumps(value, ensure_ascii=False)
    return ends[0] + ",".join("\n" + inner + item for item in items) + "\n" + indent + ends[1]


def refuse_constant(word):
    raise ValueError(word)


def parsed(text):
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=refuse_constant)


def ask(verb, argument):
    global wire
    if wire is None:
        path = os.environ.get("DEVGATE_SESSION")
        if path is None:
            fail("there is no shared session: DEVGATE_SESSION is not set")
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
        except OSError as error:
            fail("the session of DEVGATE_SESSION does not exist any more (%s: %s): it ends with its task or program"
                 % (path, error.strerror))
        wire = connection.makefile("rb"), connection
    request = '{"version":1,"%s":%s}\n' % (verb, argument)
    try:
        wire[1].sendall(request.encode("utf-8", "surrogateescape"))
    except OSError:
        pass  # The answer may say why.
    try:
        line = wire[0].readline()
    except OSError:
        line = b""
    if not line.endswith(b"\n"):
        fail("the gateway ended the session before it answered: whether the request reached the device is not known")
    try:
        answer = parsed(line.decode("utf-8"))
        version = answer.get("version")
    except (ValueError, AttributeError):
        fail("the session's protocol: an answer is a JSON object on one line")
    if version != "1":
        fail("the session's protocol: `version`: 1 is missing in the message")
    if "_error" in answer:
        fail(answer["_error"]["msg"])
    return answer


def quoted(value):
    return json.dumps(value, ensure_ascii=False)


def write(text):
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


def show(text):
    write(text if not text or text.endswith("\n") else text + "\n")


def show_document(answer):
    show(answer["text"] if "text" in answer else pretty(answer["data"]))


def hidden(text):
    size = len(text.encode("utf-8", "surrogateescape"))
    return "(%d bytes, not shown: the secrets in it are not known here)" % size


def read_input():
    content = sys.stdin.buffer.read(LARGEST + 1)
    if len(content) > LARGEST:
        fail("cannot read stdin: it has more than 64 MiB")
    return content.decode("utf-8", "surrogateescape")


def lines_of(text):
    text = re.sub("\r?\n\\Z", "", text)
    return re.split("\r?\n", text)


def unknown(why):
    """Another devgate on the PATH may know what this one does not."""
    own = os.path.dirname(sys.argv[0])
    for folder in os.environ.get("PATH", "").split(":"):
        other = os.path.join(folder, "devgate")
        if folder and folder != own and os.path.isfile(other) and os.access(other, os.X_OK):
            os.execv(other, ["devgate"] + given)
    fail(why + ": the devgate of a task on a proxy has `session exec`, `session get` and `session set` for its own target,"
         " without the options of other commands")


def command_words(words):
    """The words that are sent: a word that begins with -- was probably meant as an option."""
    for at, word in enumerate(words):
        if word == "--":
            return words[:at] + words[at + 1:]
        if word.startswith("--"):
            fail("`%s` is after the command, where devgate reads no options: put it before the command, or after `--` to"
                 " send it to the device; nothing was sent" % word)
    return words


def run_exec(words):
    options, answers, literal = set(), [], False
    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        if option == "--":
            literal = True
            break
        if option in ("--config", "--save", "--noop"):
            options.add(option)
        elif option == "--answer" and words:
            answers.append(words.pop(0))
        elif option.startswith("--answer="):
            answers.append(option[len("--answer="):])
        else:
            unknown("`%s` is not known here" % option)
    if not literal:
        words = command_words(words)
    if not words:
        fail("the following required arguments were not provided: <COMMAND>...")
    if "--save" in options and "--config" not in options:
        fail("--save requires --config")
    if answers and "--config" in options:
        fail("--answer cannot be used with --config")
    noop, save = "--noop" in options, "--save" in options
    if "--config" in options:
        if words == ["-"]:
            words = lines_of(read_input())
        if noop:
            write("would send, as configuration:\n" + hidden("\n".join(words)) + "\n")
            if save:
                write("would save the running configuration\n")
            return
        ask("configure", quoted(words))
        if save:
            ask("save", "true")
        return

    def send(command):
        if not command.strip():
            return
        if noop:
            show("would send: " + hidden(command))
            return
        show(ask("exec", quoted({"command": command, "answers": answers} if answers else command))["output"])

    if words == ["-"]:
        for line in sys.stdin.buffer:
            send(re.sub("\r?\n\\Z", "", line.decode("utf-8", "surrogateescape")))
    else:
        send(" ".join(words))


def run_get(words):
    if words and words[0] == "--":
        words.pop(0)
    if len(words) != 1 or (words[0].startswith("-") and words[0] != "-"):
        unknown("`session get` takes one argument")
    show_document(ask("get", quoted(words[0])))


def run_set(arguments):
    method, noop, words = None, False, []
    while arguments:
        word = arguments.pop(0)
        if word == "--method" and arguments:
            method = arguments.pop(0)
        elif word.startswith("--method="):
            method = word[len("--method="):]
        elif word == "--noop":
            noop = True
        elif word == "--":
            words += arguments
            break
        elif re.match("-[^0-9]", word):
            unknown("`%s` is not known here" % word)
        else:
            words.append(word)
    if not 1 <= len(words) <= 2:
        fail("specify what to set: WHAT, BODY or both")
    what, body = words if len(words) == 2 else (words[0], None)
    if words == ["-"]:
        what, body = "", "-"
    if body == "-":
        body = read_input()
    if noop:
        write("would send: %s\n" % ("%s %s" % (method or "", what)).strip())
        if body is not None:
            show(hidden(body))
        return
    parts = ['"what":' + quoted(what)]
    if method is not None:
        parts.append('"method":' + quoted(method))
    if body is not None:
        try:
            value = parsed(body)
            is_json = isinstance(value, Number) or not isinstance(value, str)
        except ValueError:
            is_json = False
        parts.append('"body":' + (re.sub("[\r\n]", " ", body) if is_json else quoted(body)))
    show_document(ask("set", "{%s}" % ",".join(parts)))


COMMANDS = {"exec": run_exec, "get": run_get, "set": run_set}
if re.match(r"(-h|--help|help|session( (exec|get|set))? (-h|--help))\Z", " ".join(given)):
    write(HELP)
elif given in (["-V"], ["--version"]):
    write("devgate @VERSION@\n")
elif given[:1] == ["session"] and given[1:2] and given[1] in COMMANDS:
    COMMANDS[given[1]](given[2:])
else:
    unknown("`devgate %s` is not known here" % " ".join(given))
