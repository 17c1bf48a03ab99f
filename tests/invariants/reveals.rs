//! The only places that reveal secrets.

use std::collections::BTreeMap;

use super::LAYERS;
use super::sources::{calls_of, code, files, name};

/// The places that inspect secrets or send them to a device or a child: each file, and its calls outside
/// tests.
const REVEALS: &[(&str, usize)] = &[
    ("devices/src/body.rs", 1),
    ("devices/src/declared/netconf.rs", 1),
    ("devices/src/declared/provider.rs", 1),
    ("devices/src/line.rs", 2),
    ("devices/src/rollback/cli.rs", 1),
    ("devices/src/rollback/netconf.rs", 1),
    ("devices/src/template/scope.rs", 4),
    ("gateway/practice/src/serve.rs", 2),
    ("gateway/practice/src/server/session.rs", 1),
    ("gateway/practice/src/switch.rs", 1),
    ("gateway/engine/src/external/family_program.rs", 1),
    ("gateway/engine/src/inventory/source.rs", 1),
    ("gateway/engine/src/process/dialogue.rs", 1),
    ("gateway/engine/src/process/hosted.rs", 1),
    ("gateway/engine/src/process/recorded.rs", 1),
    ("gateway/engine/src/process/reexec.rs", 1),
    ("gateway/engine/src/process/run.rs", 3),
    ("gateway/engine/src/process/spawn.rs", 1),
    ("gateway/engine/src/tasks/invocation.rs", 2),
    ("schemas/src/fuzz.rs", 1),
    ("schemas/src/mask.rs", 1),
    ("schemas/src/task/parameter.rs", 1),
    ("schemas/src/transport_schema/read.rs", 1),
    ("schemas/src/types/secret.rs", 1),
    ("schemas/src/value.rs", 3),
    ("transports/src/line.rs", 2),
    ("transports/src/info.rs", 1),
    ("transports/src/netconf/change.rs", 1),
    ("transports/src/ovsdb/data.rs", 2),
    ("transports/src/snmp/agent.rs", 1),
    ("transports/src/snmp/usm.rs", 4),
    ("transports/src/ssh/auth.rs", 1),
    ("transports/src/ssh/auth/keyboard_interactive.rs", 1),
    ("transports/src/ssh/identities.rs", 2),
    ("transports/src/ssh/private_key.rs", 4),
    ("transports/src/f5/session.rs", 1),
    ("transports/src/http/login.rs", 2),
    ("transports/src/http/request.rs", 1),
    ("transports/src/http/send.rs", 1),
    ("transports/src/http/settings.rs", 3),
    ("transports/src/panos/session.rs", 2),
    ("transports/src/rest/session.rs", 1),
    ("transports/src/restconf/session.rs", 1),
    ("transports/src/tls/pem.rs", 2),
    ("transports/src/ssh/read.rs", 1),
    ("gateway/engine/src/hosts/shell/script.rs", 2),
    ("gateway/engine/src/hosts/shell/running_script.rs", 2),
];

#[test]
fn secrets_are_revealed_only_where_this_list_says() {
    let mut found = BTreeMap::new();
    for (layer, _) in LAYERS {
        for source in files(&format!("{layer}/src")) {
            let calls = code(&source)
                .map(|line| calls_of("reveal", line) + calls_of("reveal_json", line))
                .sum();
            if calls > 0 {
                found.insert(name(&source), calls);
            }
        }
    }
    let expected: BTreeMap<String, usize> = REVEALS
        .iter()
        .map(|(file, calls)| ((*file).to_owned(), *calls))
        .collect();
    assert_eq!(
        found, expected,
        "who reveals secrets has changed (left: found): is each call needed?"
    );
}
