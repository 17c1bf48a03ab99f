//! Tests of recorded sessions.

use super::*;

/// Returns a short recording of a router.
pub(super) fn recording() -> Recording {
    let mut recording = Recording {
        desc: "Recorded.".to_owned(),
        family: "frr".to_owned(),
        greeting: "\nHello, this is \"FRR\".\n".to_owned(),
        prompt: "r1# ".to_owned(),
        unknown_command: "show nothing".to_owned(),
        unknown: "% Unknown command: show nothing\n".to_owned(),
        ..Recording::default()
    };
    recording.note("show version", "FRRouting 8.4.4 (r1).\n".to_owned());
    recording.note("show a | b", "canary\n".to_owned());
    recording
}

#[test]
fn a_recording_is_written_and_read_again_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    recording().write(folder.path()).expect("written");
    let read = Recording::read(folder.path()).expect("read");
    assert_eq!(read.prompt, "r1# ");
    assert_eq!(read.greeting, recording().greeting);
    assert_eq!(read.answer("show version"), Some("FRRouting 8.4.4 (r1).\n"));
    assert_eq!(read.answer("show a | b"), Some("canary\n"));
    assert_eq!(read.answer("show nothing"), None);
    assert_eq!(read.refusal("reload"), "% Unknown command: reload\n");
    let masked = read.masked(|text| text.replace("canary", "***"));
    assert_eq!(masked.answer("show a | b"), Some("***\n"));
}

#[test]
fn a_recording_is_a_case_of_its_family() {
    let folder = tempfile::tempdir().expect("a folder");
    recording().write(folder.path()).expect("written");
    let family = built_in("frr");
    let case = family
        .test_folder(folder.path(), UpdateExpected::Yes, Comparison::Whole)
        .expect("it runs");
    assert_eq!(case[0].outcome, Ok(()));
    let found = fs::read_to_string(folder.path().join("session.json")).expect("it is there");
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found["facts"]["os"]["release"]["full"], "8.4.4");
    assert_eq!(
        found["resources"]["frr_static_route"],
        serde_json::json!([])
    );
    fs::write(
        folder.path().join("show version.txt"),
        "FRRouting 9.0.1 (r1).\n",
    )
    .expect("written");
    let case = family
        .test_folder(folder.path(), UpdateExpected::No, Comparison::Whole)
        .expect("it runs");
    let difference = case[0].outcome.clone().expect_err("another version");
    assert!(difference.contains("9.0.1"), "{difference}");
}
