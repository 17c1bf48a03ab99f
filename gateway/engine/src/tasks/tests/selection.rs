//! Choosing an implementation, and refusing a task.

use std::collections::BTreeSet;
use std::sync::Arc;

use devgate_schemas::task::InputMethod;

use super::*;

const BOTH_KINDS: &str = r#"{"implementations": [
    {"name": "far.rb", "requirements": ["puppet-agent"], "remote": true},
    {"name": "far.sh", "requirements": ["shell"], "remote": true, "input_method": "stdin"},
    {"name": "near.sh"}]}"#;

fn modules(metadata: &str) -> Modules {
    Modules::with(&[
        ("m/tasks/far.rb", ""),
        ("m/tasks/far.sh", ""),
        ("m/tasks/near.sh", ""),
        ("m/tasks/script.ps1", ""),
        ("m/tasks/t.json", metadata),
    ])
}

fn features(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

fn select(
    metadata: &str,
    remote: bool,
    names: &[&str],
    mode: Mode,
) -> Result<Arc<Implementation>, TaskError> {
    let features = features(names);
    let location = if remote {
        RunLocation::Remote {
            target: "sw1",
            proxy: "jump",
            features: &features,
        }
    } else {
        RunLocation::Normal {
            target: "host1",
            features: &features,
        }
    };
    modules(metadata).find("m::t").select(location, mode)
}

#[test]
fn the_first_implementation_that_fits_is_chosen() {
    for (remote, names, file) in [
        (true, vec!["shell", "puppet-agent"], "far.rb"),
        (true, vec!["shell"], "far.sh"),
        (false, vec![], "near.sh"),
    ] {
        let selected = select(BOTH_KINDS, remote, &names, Mode::Enforce).expect("one");
        assert_eq!(selected.file_name(), file);
    }
}

#[test]
fn the_input_method_is_the_implementations_then_the_tasks_then_both() {
    let method = |remote, names: &[&str]| {
        select(BOTH_KINDS, remote, names, Mode::Enforce)
            .expect("one")
            .input_method
    };
    assert_eq!(method(true, &["shell"]), InputMethod::Stdin);
    assert_eq!(method(false, &["shell"]), InputMethod::Both);
}

#[test]
fn every_refusal_has_its_kind_and_names_the_right_target() {
    let remote = r#"{"remote": true, "implementations": [{"name": "far.sh"}]}"#;
    let normal = r#"{"implementations": [{"name": "near.sh"}]}"#;
    let powershell = r#"{"implementations": [{"name": "script.ps1"}]}"#;
    for (metadata, place_is_remote, mode, kind, messages) in [
        (
            remote,
            false,
            Mode::Enforce,
            "bolt/no-implementation remote-task-on-normal-target",
            vec!["host1"],
        ),
        (
            normal,
            true,
            Mode::Enforce,
            "bolt/no-implementation normal-task-on-remote-target",
            vec!["sw1", "jump"],
        ),
        (
            r#"{"implementations": [{"name": "far.rb", "requirements": ["puppet-agent", "x"]}]}"#,
            false,
            Mode::Enforce,
            "bolt/no-implementation missing-features",
            vec![
                "host1",
                "far.rb needs puppet-agent and x",
                "available: shell",
            ],
        ),
        (
            normal,
            false,
            Mode::Noop,
            "devgate/noop-unsupported",
            vec!["m::t", "host1"],
        ),
        (
            powershell,
            false,
            Mode::Enforce,
            "devgate/no-powershell",
            vec!["script.ps1", "host1", "pwsh"],
        ),
    ] {
        let error = select(metadata, place_is_remote, &["shell"], mode).expect_err(kind);
        let (found, text, details) = error.to_error();
        let cause = details["cause"].as_str().unwrap_or_default();
        assert_eq!(format!("{found} {cause}").trim_end(), kind);
        assert_eq!(details["task"], "m::t");
        for word in messages {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn a_lacking_feature_names_the_proxy_and_the_target_behind_it() {
    let error = select(
        r#"{"remote": true, "implementations": [{"name": "far.rb", "requirements": ["f"]}]}"#,
        true,
        &["shell"],
        Mode::Enforce,
    )
    .expect_err("no feature f");
    let (_, text, details) = error.to_error();
    assert!(text.contains("on jump for sw1"), "{text}");
    assert_eq!(details["implementations"][0]["missing"][0], "f");
}
