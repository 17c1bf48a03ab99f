//! Refuses families whose command line commits a candidate configuration.

use devgate_transports::{Dialect, is_commit};

use crate::file_node::{FileNode, Problems};

/// Why a family must not commit, and what to do instead.
const NO_COMMIT: &str = "this commits a candidate configuration, which is not supported: after a \
     refused line, half a change would wait there for the next commit; use the device's NETCONF or \
     API, or leave `enter_config`, `leave_config` and `save` out, so that the family only reads";

/// Reports the settings of a dialect that commit.
pub(crate) fn check_dialect(file_node: &FileNode<'_>, dialect: &Dialect, problems: &mut Problems) {
    for key in dialect.keys_that_commit() {
        problems.push(file_node.nearest(&[key.to_owned()]).problem(NO_COMMIT));
    }
}

/// Reports the lines of a configuration template that commit.
pub(crate) fn check_lines(file_node: &FileNode<'_>, problems: &mut Problems) {
    let lines = file_node.node().as_str().unwrap_or_default().lines();
    for (number, _) in (1..).zip(lines).filter(|(_, line)| is_commit(line)) {
        problems.push(file_node.location().line_of_text(number).problem(NO_COMMIT));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::Family;

    #[test]
    fn a_family_that_commits_is_refused_with_the_locations_and_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().expect("it has one")).expect("made");
            fs::write(file, text).expect("written");
        };
        write(
            "family.yaml",
            r"name: acme
desc: x
protocol: ssh_cli
dialect:
  prompt: { exec: '[\w.@-]+> ?', config: '[\w.@-]+# ?' }
  enter_config: configure
  leave_config: commit and-quit
  save: { command: save, confirm: [{ pattern: 'Commit first', answer: 'yes' }] }
",
        );
        write(
            "types/acme_vlan.yaml",
            r"name: acme_vlan
desc: x
attributes:
  id: { type: Integer, behaviour: namevar }
cli:
  get:
    command: show vlan
    textfsm: |
      Value ID (\d+)

      Start
        ^${ID} -> Record
    resource: { id: ID }
  create: |
    set vlan {{ id }}
    commit
",
        );
        let error = Family::load(folder.path())
            .expect_err("refused")
            .to_string();
        let error = error.replace(&format!("{}/", folder.path().display()), "");
        for location in [
            "family.yaml:7:17: at dialect.leave_config: this commits",
            "family.yaml:8:9: at dialect.save: this commits",
            "types/acme_vlan.yaml:16:5: at cli.create: this commits",
        ] {
            assert!(error.contains(location), "{error}");
        }
        assert!(error.contains("use the device's NETCONF"), "{error}");
        assert_eq!(error.lines().count(), 3, "{error}");
    }
}
