//! Resource types of hosts: those that Puppet and its usual modules manage where an agent runs.

/// The types of Puppet 5 to 8, of the modules that were separated from it, and of those that nearly every site has.
const HOST_TYPES: [&str; 39] = [
    "anchor",
    "archive",
    "augeas",
    "computer",
    "concat_file",
    "concat_fragment",
    "cron",
    "exec",
    "file",
    "file_line",
    "group",
    "host",
    "ini_setting",
    "ini_subsetting",
    "k5login",
    "macauthorization",
    "mailalias",
    "maillist",
    "mcx",
    "mount",
    "notify",
    "package",
    "reboot",
    "registry_key",
    "registry_value",
    "scheduled_task",
    "selboolean",
    "selmodule",
    "service",
    "ssh_authorized_key",
    "sshkey",
    "tidy",
    "user",
    "vcsrepo",
    "whit",
    "yumrepo",
    "zfs",
    "zone",
    "zpool",
];

/// Whether a type, in lower case, is for hosts. Devices have no such resources.
pub(super) fn is_host_type(name: &str) -> bool {
    HOST_TYPES.contains(&name)
}
