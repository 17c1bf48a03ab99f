//! A secret in the input or the configuration of a third-party module is never shown: not in devgate's
//! output at the finest log level, not in the process list, not in stored files.

use std::fs;
use std::path::Path;

use crate::support::process_list::ProcessList;
use crate::support::project::Project;
use crate::support::pxp::wait_for_end;
use crate::support::run::CANARY;

#[test]
fn at_the_finest_log_level_hosting_shows_no_secret_and_keeps_none() {
    let mut project = Project::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/pxp");
    let input = project.write("input.json", "{\"password\": \"a-canary-password\"}");
    let processes = ProcessList::watch(project.path());
    let run = |words: &str| {
        project.devgate(&format!(
            "pxp {words} --modules-dir {0}/modules --config-dir {0}/config --log-level trace",
            source.display()
        ))
    };
    for format in ["human", "json"] {
        run(&format!("list --format {format}")).succeeded();
        run(&format!("show careless --format {format}")).succeeded();
        for action in ["repeat", "keep"] {
            let input = input.display();
            run(&format!(
                "run careless {action} --input @{input} --format {format}"
            ))
            .succeeded();
            run(&format!(
                "run careless {action} --input @{input}.none --format {format}"
            ))
            .failed();
        }
    }
    for action in ["repeat", "keep"] {
        let input = input.display();
        let spool = format!("--nonblocking --transaction {action} --spool-dir spool");
        run(&format!("run careless {action} --input @{input} {spool}")).succeeded();
        assert_eq!(wait_for_end(&project, action, "spool")["status"], "success");
        let again = run(&format!("run careless {action} --input @{input} {spool}"));
        again.succeeded().shows(&["success"]);
    }
    processes.assert_no_secret();
    let remaining = project.remaining_files();
    let leaks: Vec<_> = remaining
        .iter()
        .filter(|(_, text)| text.contains(CANARY))
        .collect();
    assert!(
        leaks.is_empty(),
        "the runs leave secrets in files: {leaks:#?}"
    );
    let temporary = fs::read_dir(project.path().join("tmp")).expect("the folder is there");
    assert_eq!(temporary.count(), 0, "the runs leave temporary files");
}
