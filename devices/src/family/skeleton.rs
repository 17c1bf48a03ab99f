//! Skeletons of new families: files that pass their test at once, with comments that say what to do next.

use devgate_schemas::suggest;

use super::recording::Recording;
use crate::source::{ProtocolKind, has_command_line};
use crate::{Error, Result};

/// The files of a new family, by their paths in its folder.
#[derive(Debug)]
pub struct Skeleton {
    /// The files.
    pub files: Vec<(String, String)>,
}

/// What differs between protocols.
struct Parts {
    /// The dialect, if there is a command line.
    dialect: &'static str,
    facts: &'static str,
    /// A type, if the protocol can change something.
    kind: Option<&'static str>,
    /// The answer that the facts are made of.
    version: (&'static str, &'static str),
    /// The answer that the type is made of.
    vlans: (&'static str, &'static str),
}

const FACTS: &str = include_str!("../../skeletons/facts.yaml");
const COMMANDS: Parts = Parts {
    dialect: include_str!("../../skeletons/commands.yaml"),
    facts: FACTS,
    kind: Some(include_str!("../../skeletons/commands_type.yaml")),
    version: ("show version", "Version 1.2.3\n"),
    vlans: ("show vlan", "10 users\n20\n"),
};
const API: Parts = Parts {
    dialect: include_str!("../../skeletons/api.yaml"),
    ..COMMANDS
};
const REST: Parts = Parts {
    dialect: "",
    facts: include_str!("../../skeletons/rest.yaml"),
    kind: Some(include_str!("../../skeletons/rest_type.yaml")),
    version: ("/system", "{ \"version\": \"1.2.3\" }\n"),
    vlans: (
        "/vlans",
        "[{ \"id\": 10, \"name\": \"users\" }, { \"id\": 20 }]\n",
    ),
};
const NETCONF: Parts = Parts {
    dialect: "",
    facts: include_str!("../../skeletons/netconf.yaml"),
    kind: Some(include_str!("../../skeletons/netconf_type.yaml")),
    version: (
        "state <system xmlns=\"urn:example:system\"/>",
        "<data><system><version>1.2.3</version></system></data>\n",
    ),
    vlans: (
        "running <vlans xmlns=\"urn:example:vlans\"/>",
        "<data><vlans>\n<vlan><id>10</id><name>users</name></vlan>\n<vlan><id>20</id></vlan>\n</vlans></data>\n",
    ),
};
const OVSDB: Parts = Parts {
    dialect: "",
    facts: include_str!("../../skeletons/ovsdb.yaml"),
    kind: Some(include_str!("../../skeletons/ovsdb_type.yaml")),
    version: ("System", "[{ \"version\": \"1.2.3\" }]\n"),
    vlans: (
        "Vlan",
        "[{ \"id\": 10, \"name\": \"users\" }, { \"id\": 20, \"name\": \"\" }]\n",
    ),
};
const SNMP: Parts = Parts {
    dialect: "",
    facts: include_str!("../../skeletons/snmp.yaml"),
    kind: None,
    version: ("1.3.6.1.2.1.1", "{ \"1.3.6.1.2.1.1.1.0\": \"A device\" }\n"),
    vlans: ("", ""),
};
const PANOS: Parts = Parts {
    dialect: "",
    facts: include_str!("../../skeletons/panos.yaml"),
    kind: Some(include_str!("../../skeletons/panos_type.yaml")),
    version: (
        "<show><system><info></info></system></show>",
        "<result><system><sw-version>1.2.3</sw-version></system></result>\n",
    ),
    vlans: (
        "/config/example/vlan",
        "<response><result><vlan>\n<entry name=\"10\"><name>users</name></entry>\n<entry name=\"20\"/>\n</vlan></result></response>\n",
    ),
};

impl Skeleton {
    /// The files of a new family. A recording gives its prompt, the command and the pattern of its version, and a case.
    ///
    /// # Errors
    /// Fails when the name cannot be one of a family, or when there is no such protocol.
    pub fn new(name: &str, protocol: &str, recording: Option<&Recording>) -> Result<Self> {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_letter) {
            return Err(Error::Unsupported(format!(
                "`{name}` cannot be the name of a family: expected lower-case letters, digits and `_`, a letter first"
            )));
        }
        let mut known = devgate_transports::all().iter().map(|it| it.name());
        if !known.clone().any(|known| known == protocol) {
            let hint = suggest(protocol, known.by_ref());
            return Err(Error::Unsupported(format!(
                "there is no protocol `{protocol}`{hint}; `devgate transport list` lists all"
            )));
        }
        let parts = match ProtocolKind::of(protocol) {
            ProtocolKind::CommandApi => API,
            ProtocolKind::Commands => COMMANDS,
            ProtocolKind::Rest => REST,
            ProtocolKind::Netconf => NETCONF,
            ProtocolKind::Ovsdb => OVSDB,
            ProtocolKind::Panos => PANOS,
            ProtocolKind::ReadOnly => SNMP,
        };
        let recording = recording.filter(|_| has_command_line(protocol));
        Ok(Self {
            files: files(name, protocol, &parts, recording),
        })
    }
}

fn files(
    name: &str,
    protocol: &str,
    parts: &Parts,
    recording: Option<&Recording>,
) -> Vec<(String, String)> {
    let version = recording.and_then(Version::find);
    let (exec, config) = match recording {
        Some(recording) => prompts(&recording.prompt),
        None => prompts("switch# "),
    };
    let filled = |text: &str| {
        let version = version.as_ref();
        text.replace("@NAME@", name)
            .replace("@EXEC@", &exec)
            .replace("@CONFIG@", &config)
            .replace(
                "@COMMAND@",
                version.map_or(parts.version.0, |it| &it.command),
            )
            .replace("@BEFORE@", version.map_or("Version ", |it| &it.before))
            .replace("@VERSION@", r"\S+")
    };
    let mut family = format!(
        "# A family of devices. To go on: change the texts of this file to those of your device, one at a time, and run\n\
         # `devgate family test {name} --watch` beside it. `devgate family lint {name}` finds what is left open.\n\
         name: {name}\ndesc: Devices of the kind {name}.\nprotocol: {protocol}\n"
    );
    family.push_str(&filled(parts.dialect));
    family.push_str(&filled(parts.facts));
    let mut files = vec![("family.yaml".to_owned(), family)];
    let mut case = |case: &str, text: String, output: (&str, &str)| {
        files.push((format!("cases/{case}/case.yaml"), text));
        if !output.0.is_empty() {
            let path = format!("cases/{case}/{}", super::recording::file_of(output.0));
            files.push((path, output.1.to_owned()));
        }
    };
    let head = "# A case: the recorded output of each command lies beside this file, and the expected result,\n\
                # which `UPDATE=1 devgate family test` writes for your review.\n";
    match recording {
        None => case(
            "facts",
            format!("{head}desc: The facts of a device.\n"),
            parts.version,
        ),
        Some(recording) => {
            files.push((
                "cases/recorded/case.yaml".to_owned(),
                recording.case_yaml(name),
            ));
            for (file, output) in &recording.outputs {
                files.push((format!("cases/recorded/{file}"), output.clone()));
            }
            return with_type(files, name, parts, head, &filled);
        }
    }
    with_type(files, name, parts, head, &filled)
}

/// Adds the type and its cases.
fn with_type(
    mut files: Vec<(String, String)>,
    name: &str,
    parts: &Parts,
    head: &str,
    filled: &dyn Fn(&str) -> String,
) -> Vec<(String, String)> {
    let Some(kind) = parts.kind else {
        return files;
    };
    files.push((format!("types/{name}_vlan.yaml"), filled(kind)));
    let (query, output) = parts.vlans;
    let read = format!("cases/{name}_vlan_read");
    files.push((
        format!("{read}/case.yaml"),
        format!("{head}desc: A VLAN with a name, and one without.\ntype: {name}_vlan\n"),
    ));
    files.push((
        format!("{read}/{}", super::recording::file_of(query)),
        output.to_owned(),
    ));
    files.push((
        format!("cases/{name}_vlan_set/case.yaml"),
        format!(
            "# A case of changes: lines.txt has what is sent for them.\n\
             desc: A VLAN is made, gets another name, and is removed.\ntype: {name}_vlan\nchanges:\n\
             - title: '30'\n  should: {{ name: guests }}\n\
             - title: '30'\n  is: {{ name: guests }}\n  should: {{ name: visitors }}\n\
             - title: '30'\n  is: {{ name: visitors }}\n"
        ),
    ));
    files
}

/// Where a recording tells a version.
struct Version {
    command: String,
    /// The pattern of what precedes it in its line.
    before: String,
}

impl Version {
    /// The first version number, such as `8.4.4`, in an output whose command asks for it, or else in any.
    fn find(recording: &Recording) -> Option<Self> {
        let mut outputs: Vec<&(String, String)> = recording.outputs.iter().collect();
        outputs.sort_by_key(|(file, _)| !file.contains("version"));
        outputs.into_iter().find_map(|(file, output)| {
            let before = output.lines().find_map(before_version)?;
            Some(Self {
                command: command_of(file),
                before: escaped(before),
            })
        })
    }
}

/// The command whose output a recording's file holds: `_` stands for what a file name cannot have.
fn command_of(file: &str) -> String {
    let command = file.trim_end_matches(".txt").replace(" _ ", " | ");
    match command.strip_prefix('_') {
        Some(rest) => format!("/{rest}"),
        None => command,
    }
}

/// The text before the first version number of a line.
fn before_version(line: &str) -> Option<&str> {
    let starts = line.char_indices().filter(|(at, c)| {
        let before = line[..*at].chars().next_back();
        c.is_ascii_digit() && before.is_none_or(|c| !c.is_alphanumeric() && c != '.')
    });
    starts.map(|(at, _)| at).find_map(|at| {
        let word = line[at..]
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '.')
            .next()?;
        let mut parts = word.split('.');
        let is_number = |part: Option<&str>| {
            part.is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()))
        };
        (is_number(parts.next()) && is_number(parts.next())).then_some(&line[..at])
    })
}

/// The patterns of prompts like this one: of any name, at both privileges, and in configuration mode.
fn prompts(prompt: &str) -> (String, String) {
    let text = prompt.trim_end();
    let (before, sign) = match text.char_indices().next_back() {
        Some((at, _)) => text.split_at(at),
        None => ("switch", "#"),
    };
    let is_name = |c: char| c.is_alphanumeric() || "_.-".contains(c);
    let rest = before.trim_start_matches(is_name);
    let name = if rest.len() < before.len() {
        r"[\w.-]+"
    } else {
        ""
    };
    let sign = match sign {
        "#" | ">" => "[>#]".to_owned(),
        other => escaped(other),
    };
    let name = format!("{name}{}", escaped(rest));
    (
        format!("{name}{sign} ?").replace('\'', "''"),
        format!(r"{name}\(config[^)]*\)# ?").replace('\'', "''"),
    )
}

/// A text as a pattern; a `$` is one of the text.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        match character {
            '$' => pattern.push_str("[$$]"),
            c if r"\.+*?()[]{}|^".contains(c) => pattern.extend(['\\', c]),
            c => pattern.push(c),
        }
    }
    pattern
}
