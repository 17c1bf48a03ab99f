//! The default ports of targets.

use devgate_schemas::{TransportSchema, Value};

use crate::inventory::Target;

/// The default ports of protocols for which a schema has none.
const PORTS: [(&str, i64); 4] = [("https", 443), ("http", 80), ("telnet", 23), ("ssh", SSH)];

/// The default port of SSH.
pub(super) const SSH: i64 = 22;

/// Returns the port of a target that names none, as its transport says.
pub(super) fn default_port(schema: &TransportSchema, target: &Target) -> Option<i64> {
    let default = |name: &str| schema.connection_info().get(name)?.default.as_ref();
    let of = |protocol: &Value| {
        let mut ports = PORTS.iter();
        let (_, port) = ports.find(|(name, _)| Some(*name) == protocol.as_str())?;
        Some(*port)
    };
    match default("port") {
        Some(port) => port.as_integer(),
        None => of(&target.protocol()).or_else(|| of(default("protocol")?)),
    }
}
