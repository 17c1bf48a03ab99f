//! RESTCONF's additions to HTTP: methods that change a part of the data, locks, and concurrent changes.

use super::*;

#[test]
fn restconf_creates_merges_replaces_and_deletes_and_reads_back() {
    let server = restconf::start(Speaks::Json);
    let mut project = project("restconf", &server, json!({}));
    let path = "ietf-interfaces:interfaces";
    let of =
        |text: &str| format!("'{{\"ietf-interfaces:interface\": [{{\"name\": \"eth0\"{text}}}]}}'");
    let run = script(
        &mut project,
        &format!(
            "set -e\n\
         devgate session set {path} {} --method POST\n\
         devgate session set {path}/interface=eth0 {}\n\
         devgate session get {path}/interface=eth0\n\
         devgate session set {path}/interface=eth0 {} --method PUT\n\
         devgate session get {path}\n\
         devgate session set operations/example-ops:restart --method POST\n",
            of(", \"type\": \"x:ether\""),
            of(", \"description\": \"merged\""),
            of(", \"description\": \"replaced\""),
        ),
    );
    let run = run.succeeded();
    let (merged, replaced) = run.stdout.split_once("replaced").expect("both were read");
    assert!(
        merged.contains("merged") && merged.contains("x:ether"),
        "{run}"
    );
    assert!(!replaced.contains("x:ether"), "{run}");
    let again = format!("devgate session set {path} {} --method POST", of(""));
    script(&mut project, &again)
        .failed()
        .shows(&["409", "data-exists", "it is there already"]);
    let delete = format!("devgate session set {path}/interface=eth0 --method DELETE");
    script(&mut project, &delete).succeeded();
    script(
        &mut project,
        &format!("devgate session get {path}/interface=eth0"),
    )
    .failed()
    .shows(&["404", "data-missing"]);
}

#[test]
fn what_was_changed_since_it_was_read_is_not_overwritten() {
    let server = restconf::start(Speaks::Json);
    let mut project = project("restconf", &server, json!({}));
    let path = "ietf-interfaces:interfaces/interface=eth0";
    let body = |text: &str| {
        format!(
            "'{{\"ietf-interfaces:interface\": [{{\"name\": \"eth0\", \"description\": \"{text}\"}}]}}'"
        )
    };
    let run = script(
        &mut project,
        &format!(
            "devgate session set {path} {} --method PUT\ndevgate session get {path}\n\
         env -u DEVGATE_SESSION devgate session set -t device {path} {}\n\
         devgate session set {path} {}\n",
            body("mine"),
            body("theirs"),
            body("lost")
        ),
    );
    run.failed()
        .shows(&["412", "it was changed since it was read here"]);
    project
        .devgate(&format!("session get -t device {path}"))
        .succeeded()
        .shows(&["theirs"]);
}

#[test]
fn a_lock_of_another_is_waited_for() {
    let server = restconf::start(Speaks::Json);
    let project = project("restconf", &server, json!({}));
    let run = project.devgate("session get -t device example:locked");
    run.succeeded()
        .shows(&["lock-denied", "held by 7", "try 2 follows", "released"]);
    assert_eq!(server.count("GET /top/rc/data/example:locked"), 2);
}
