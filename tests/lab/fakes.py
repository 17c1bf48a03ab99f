"""Serves two third-party simulators of devices on 127.0.0.1 and says so in lab.json; fakes.sh starts it.

fakenos shows the prompts of many platforms and answers with texts that it has; nothing can be changed.
fake-switches keep what they are told: Cisco, Brocade and Dell by SSH and telnet, Juniper by NETCONF, Arista by eAPI.

    fakes.py DIR PASSWORD ENABLE_PASSWORD PORT...      as many ports as both need, and some more
"""

import io
import json
import logging
import os
import sys

import paramiko
import yaml
from fake_switches.switch_factory import DEFAULT_MAPPING, SwitchFactory
from fake_switches.transports.http_service import SwitchHttpService
from fake_switches.transports.ssh_service import SwitchSshService, getRSAKeys
from fake_switches.transports.telnet_service import SwitchTelnetService
from fakenos import FakeNOS
from fakenos.core.nos import available_platforms
from fakenos.plugins.servers.ssh_server_paramiko import DEFAULT_SSH_KEY
from twisted.internet import reactor

HOST, USER = "127.0.0.1", "admin"
FOLDER, PASSWORD, ENABLE_PASSWORD = sys.argv[1:4]
ports = [int(port) for port in sys.argv[4:]]

# fakenos reads megabytes of YAML; with libyaml that takes one second instead of ten.
yaml.safe_load = lambda text: yaml.load(text, Loader=yaml.CSafeLoader)


def asked(nos):
    """A command that the platform knows where one is after the login, and the first line of its answer."""
    for command, known in sorted(nos.commands.items(), key=lambda item: (not item[0].startswith("show"), item[0])):
        said, at = known.get("output"), known.get("prompt", nos.initial_prompt)
        if isinstance(said, str) and said.strip() and nos.initial_prompt in at and "new_prompt" not in known:
            return command, said.strip().splitlines()[0].strip()
    return None, None


def platforms():
    hosts = {name: {"port": ports.pop(0), "platform": name} for name in sorted(available_platforms)}
    server = {"plugin": "ParamikoSshServer", "configuration": {"address": HOST, "timeout": 1}}
    shell = {"plugin": "CMDShell", "configuration": {}}
    default = {"username": USER, "password": PASSWORD, "server": server, "shell": shell}
    net = FakeNOS(inventory={"default": default, "hosts": hosts})
    net.start()
    for name, host in net.hosts.items():
        command, says = asked(host.nos)
        yield {"name": name, "port": host.port, "command": command, "says": says}


def switches():
    for model in sorted(DEFAULT_MAPPING):
        switch = {"name": model, "port": ports.pop(0)}
        core = SwitchFactory().get(model, model.replace("_", "-"), ENABLE_PASSWORD)
        if model.startswith("arista"):
            switch["protocol"] = "eapi"
            SwitchHttpService(HOST, switch["port"], core, {USER: PASSWORD}).hook_to_reactor(reactor)
        else:
            switch["protocol"] = "netconf" if core.get_netconf_protocol() else "ssh_cli"
            SwitchSshService(HOST, switch["port"], core, {USER: PASSWORD.encode()}).hook_to_reactor(reactor)
        if switch["protocol"] == "ssh_cli":
            switch["telnet_port"] = ports.pop(0)
            SwitchTelnetService(HOST, switch["telnet_port"], core).hook_to_reactor(reactor)
        yield switch


def known_hosts(lab):
    key = paramiko.RSAKey(file_obj=io.StringIO(DEFAULT_SSH_KEY)).get_base64()
    for platform in lab["platforms"]:
        yield f"[{HOST}]:{platform['port']} ssh-rsa {key}\n"
    for switch in lab["switches"]:
        yield f"[{HOST}]:{switch['port']} {' '.join(getRSAKeys()[0].split()[:2])}\n"


def describe():
    lab = {
        "host": HOST,
        "user": USER,
        "password": PASSWORD,
        "enable_password": ENABLE_PASSWORD,
        "known_hosts": os.path.join(FOLDER, "known_hosts"),
        "platforms": list(platforms()),
        "switches": list(switches()),
    }
    with open(lab["known_hosts"], "w") as file:
        file.writelines(known_hosts(lab))
    with open(os.path.join(FOLDER, "lab.json.new"), "w") as file:
        json.dump(lab, file, indent=2)
    os.rename(file.name, os.path.join(FOLDER, "lab.json"))


logging.basicConfig(level="ERROR")
reactor.callWhenRunning(describe)
reactor.run()
