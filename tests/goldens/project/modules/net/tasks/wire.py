#!/usr/bin/env python3
"""Says each request to the session that it is lent, and shows what is answered, word by word."""
import json
import os
import socket

REQUESTS = [
    b'{"version": 1, "hello": true}',
    b'{"version": 1, "exec": "show privilege"}',
    b'{"version": 1, "exec": "show nonsense"}',
    b'{"version": 1, "exec": {"command": "show privilege", "answers": []}}',
    b'{"version": 1, "configure": ["vlan 77", " name lent"]}',
    b'{"version": 1, "configure": ["vlan nonsense"]}',
    b'{"version": 1, "save": true}',
    b'{"version": 1, "get": "/"}',
    b'{"version": 1, "set": {"what": "/", "method": "PUT", "body": 1}}',
    b'{"version": 2, "hello": true}',
    b'{"version": 1, "exec": "show privilege", "save": true}',
    b'[]',
]

said = []
for request in REQUESTS:
    lent = socket.socket(socket.AF_UNIX)
    lent.connect(os.environ["DEVGATE_SESSION"])
    lent.sendall(request + b"\n")
    answer = lent.makefile("rb").readline().decode()
    said.append([request.decode(), answer])
print(json.dumps({"said": said}))
