//! Families implemented by programs: shell scripts that keep to their contract or break it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;

use super::project::Project;

pub(crate) const PASSWORD: &str = "panel-canary-password";

/// Creates a project whose targets `t` and `hasty` have the family `bad`, with these programs: `transport`,
/// `types/NAME`.
pub(crate) fn project(programs: &[(&str, &str)]) -> Project {
    let mut project = Project::new();
    for (name, text) in programs {
        program(&mut project, name, text);
    }
    let mut info = json!({ "remote-transport": "bad", "password": PASSWORD, "output-limit": 2000 });
    project.add_target("t", info.clone());
    info["task-timeout"] = json!(1);
    project.add_target("hasty", info);
    project
}

/// Writes a program of the family `bad`.
pub(crate) fn program(project: &mut Project, name: &str, text: &str) -> PathBuf {
    let path = project.write(&format!("modules/m/devices/bad/{name}"), text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

const CONNECTION_INFO: &str =
    r#""connection_info": {"password": {"type": "String", "sensitive": true}}"#;

/// Returns a transport program, persistent or not, that runs this script for every request except the one
/// for its schema.
pub(crate) fn transport(stays: bool, script: &str) -> String {
    format!(
        "#!/bin/sh\ncase $1 in\nschema) echo '{{\"name\": \"bad\", \"desc\": \"x\", \"persistent\": {stays}, \
         {CONNECTION_INFO}}}';;\n*) {script};;\nesac\n"
    )
}

/// Whether a process is still running.
pub(crate) fn is_running(pid: &str) -> bool {
    let words = fs::read(format!("/proc/{}/cmdline", pid.trim()));
    words.is_ok_and(|words| !words.is_empty())
}
