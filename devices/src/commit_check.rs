//! Refuses families whose command line commits a candidate configuration beside the dialect's `commit`.

use devgate_transports::{Dialect, is_commit};

use crate::file_node::{FileNode, Problems};

/// Why a key must not commit, and what to do instead.
const NO_COMMIT: &str = "this commits a candidate configuration, and would do so even after a refused line, with half a change: expected a \
     command that commits nothing here, and the commit in the dialect's `commit`";

/// Why a line must not commit, and what to do instead.
const NO_COMMIT_IN_LINES: &str = "this commits a candidate configuration before all lines are typed: leave it out, and let the dialect's `commit` \
     say how the lines take effect";

/// Reports the settings of a dialect that commit, and the mistakes in its `commit`.
pub(crate) fn check_dialect(file_node: &FileNode<'_>, dialect: &Dialect, problems: &mut Problems) {
    let commits = dialect.keys_that_commit().into_iter();
    let commits = commits.map(|path| (path, NO_COMMIT.to_owned()));
    for (path, message) in commits.chain(dialect.commit_mistakes()) {
        let path: Vec<String> = path.into_iter().map(str::to_owned).collect();
        problems.push(file_node.nearest(&path).problem(message));
    }
}

/// Reports the lines of a configuration template that commit.
pub(crate) fn check_lines(file_node: &FileNode<'_>, problems: &mut Problems) {
    let lines = file_node.node().as_str().unwrap_or_default().lines();
    for (number, _) in (1..).zip(lines).filter(|(_, line)| is_commit(line)) {
        problems.push(
            file_node
                .location()
                .line_of_text(number)
                .problem(NO_COMMIT_IN_LINES),
        );
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
        assert!(
            error.contains("the commit in the dialect's `commit`"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 3, "{error}");
    }
}
