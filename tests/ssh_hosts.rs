//! Connections to real OpenSSH servers: the hosts that `tests/lab/hosts.sh` starts.

#[path = "ssh_hosts/host.rs"]
mod host;
#[path = "ssh_hosts/logins.rs"]
mod logins;
#[path = "ssh_hosts/programs.rs"]
mod programs;
