//! A device with Junos: a tree of statements, which NETCONF changes as XML and the command line with `set` and `delete`.

mod schema;
mod set_lines;
mod tree;
mod xml;

use std::sync::LazyLock;

use crate::session::Simulator;
use schema::Schema;
use tree::Node;

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::read(include_str!("junos/schema.yaml")));

/// A device that is changed over NETCONF.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Junos(Node);

/// A device that is changed at its command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JunosCli(Node);

impl Default for Junos {
    fn default() -> Self {
        Self(new_device())
    }
}

impl Default for JunosCli {
    fn default() -> Self {
        Self(new_device())
    }
}

/// The configuration of a device with routing instances, ports and a login class.
fn new_device() -> Node {
    let mut root = Node::new("configuration");
    let lines = include_str!("junos/begins.txt").lines();
    for line in lines {
        set_lines::apply(&mut root, &SCHEMA, line).expect("the device takes its own lines");
    }
    root
}

impl Simulator for Junos {
    /// Answers `running <filter/>`.
    fn answer(&self, query: &str) -> Result<String, String> {
        let filter = query.strip_prefix("running ");
        let filter = filter.ok_or_else(|| format!("`{query}` reads something else"))?;
        Ok(format!("<data>{}</data>", xml::filtered(&self.0, filter)?))
    }

    fn apply(&mut self, lines: &[String]) -> Result<(), String> {
        let mut candidate = self.0.clone();
        xml::edit(&mut candidate, &SCHEMA, &lines.join("\n"))?;
        candidate.prune(&SCHEMA);
        self.0 = candidate;
        Ok(())
    }
}

impl Simulator for JunosCli {
    /// Answers `show configuration PATH | display xml | no-more`.
    fn answer(&self, command: &str) -> Result<String, String> {
        let path = command.strip_prefix("show configuration");
        let path = path.and_then(|rest| rest.strip_suffix("| display xml | no-more"));
        let path = path.ok_or_else(|| format!("`{command}`: the simulator has no such command"))?;
        let shown = set_lines::shown(&self.0, &SCHEMA, path)?;
        Ok(format!(
            "<rpc-reply xmlns:junos=\"http://xml.juniper.net/junos/21.4R0/junos\">\n{}    <cli>\n        \
             <banner></banner>\n    </cli>\n</rpc-reply>\n",
            shown.map_or_else(String::new, |shown| shown.to_xml())
        ))
    }

    fn apply(&mut self, lines: &[String]) -> Result<(), String> {
        let mut candidate = self.0.clone();
        for line in lines {
            set_lines::apply(&mut candidate, &SCHEMA, line)?;
        }
        candidate.prune(&SCHEMA);
        self.0 = candidate;
        Ok(())
    }
}
