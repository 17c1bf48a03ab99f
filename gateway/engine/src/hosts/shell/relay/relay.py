# Carries the connections of a Unix socket over standard input and output. It ends, and removes the socket, when its
# input ends. `frames.rs` describes the frames. relay.pl is the same program in Perl.
import os
import select
import signal
import socket
import struct
import sys
import time

CHUNK, WINDOW, MOST, PATIENCE = 32768, 65536, 64, 5
HEAD = struct.Struct("!cII")
path = sys.argv[1]
clients = {}
last = 0
received = b""


class Client:
    def __init__(self, connection):
        self.socket, self.out, self.credit, self.until = connection, b"", WINDOW, None


def leave(*_):
    try:
        os.unlink(path)
    finally:
        os._exit(0)


def send_frame(kind, client, size=0, content=b""):
    frame = HEAD.pack(kind, client, size) + content
    while frame:
        try:
            frame = frame[os.write(1, frame):]
        except OSError:
            leave()


def close_client(number, tell):
    clients.pop(number).socket.close()
    if tell:
        send_frame(b"e", number)


def take(kind, number, size, content):
    """Handles a frame of devgate."""
    client = clients.get(number)
    if client is None:
        return
    if kind == b"d":
        client.out += content
    elif kind == b"a":
        client.credit += size
    elif kind == b"e":
        client.until = time.monotonic() + PATIENCE


def read_frames():
    global received
    more = os.read(0, CHUNK)
    if not more:
        leave()
    received += more
    while len(received) >= HEAD.size:
        kind, number, size = HEAD.unpack_from(received)
        end = HEAD.size + (size if kind == b"d" else 0)
        if len(received) < end:
            break
        take(kind, number, size, received[HEAD.size:end])
        received = received[end:]


def accept_client():
    global last
    try:
        connection = listener.accept()[0]
    except OSError:
        return
    last = (last + 1) % 2**32
    clients[last] = Client(connection)
    send_frame(b"o", last)


def read_client(number):
    client = clients[number]
    try:
        content = client.socket.recv(min(client.credit, CHUNK))
    except OSError:
        content = b""
    if content:
        client.credit -= len(content)
        send_frame(b"d", number, len(content), content)
    else:
        close_client(number, client.until is None)


def write_client(number):
    client = clients[number]
    try:
        sent = client.socket.send(client.out[:CHUNK], socket.MSG_DONTWAIT)
    except BlockingIOError:
        return
    except OSError:
        close_client(number, client.until is None)
        return
    client.out = client.out[sent:]
    send_frame(b"a", number, sent)


for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, leave)
os.umask(0o077)
listener = socket.socket(socket.AF_UNIX)
try:
    listener.bind(path)
    listener.listen(1024)
except OSError as fault:
    os.write(1, ("%s: %s\n" % (path, fault)).encode())
    sys.exit(1)
os.write(1, b"ready\n")
while True:
    reading, writing, limit = [0], [], None
    if len(clients) < MOST:
        reading.append(listener)
    for number, client in list(clients.items()):
        if client.until is not None:
            if not client.out or time.monotonic() >= client.until:
                close_client(number, False)
                continue
            limit = 1
        elif client.credit > 0:
            reading.append(client.socket)
        if client.out:
            writing.append(client.socket)
    reading, writing, _ = select.select(reading, writing, [], limit)
    if 0 in reading:
        read_frames()
    if listener in reading:
        accept_client()
    for number, client in list(clients.items()):
        if client.socket in writing:
            write_client(number)
        if number in clients and client.socket in reading:
            read_client(number)
