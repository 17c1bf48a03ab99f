//! Validates a target's connection info against a schema.

use super::connection_info::ConnectionInfo;
use super::invalid::InvalidConnectionInfo;
use super::schema::{TransportSchema, is_reserved};
use crate::attribute::shown;
use crate::{Attribute, Hash, Level, RawConnectionInfo, Value, did_you_mean};

/// Keys that inventories derive from a URI, whether the transport uses them or not.
const COMPUTED: [&str; 6] = ["uri", "host", "protocol", "user", "port", "password"];

/// The protocol that inventories give to all targets that have transports.
const REMOTE: &str = "remote";

impl TransportSchema {
    /// Converts a target's raw connection info into checked connection info. Drops keys that are not the
    /// transport's, applies defaults, wraps secrets, and then checks the result.
    ///
    /// `tell` receives a message about the keys that were dropped. A single warning names all unknown keys.
    ///
    /// # Errors
    /// Fails with every wrong and missing attribute and every violated group. Secrets are not quoted.
    pub fn read(
        &self,
        raw: RawConnectionInfo,
        mut report: impl FnMut(Level, String),
    ) -> Result<ConnectionInfo, InvalidConnectionInfo> {
        let mut unknown = Vec::new();
        let mut taken = self.taken(raw, &mut report, &mut unknown);
        if !unknown.is_empty() {
            let named: Vec<String> = unknown
                .iter()
                .map(|key| {
                    let known = self.connection_info.keys().map(String::as_str);
                    let known = known
                        .chain(Self::GATEWAYS)
                        .chain(["remote-transport", "run-on"]);
                    format!("`{key}`{}", did_you_mean(key, known))
                })
                .collect();
            let message = format!(
                "`{}` ignores unknown settings: {}",
                self.name,
                named.join(", ")
            );
            report(Level::Warning, message);
        }
        for (name, attribute) in &self.connection_info {
            if let (None, Some(default)) = (taken.info.get(name), &attribute.default) {
                taken.info.insert(name.as_str(), default.clone());
            }
        }
        self.check(&taken, &[]).map(|()| taken)
    }

    /// Returns the secrets of a target's raw connection info, whether it is valid or not.
    pub fn secrets(&self, raw: RawConnectionInfo) -> Vec<Value> {
        let info = self.taken(raw, &mut |_, _| {}, &mut Vec::new());
        info.secrets().cloned().collect()
    }

    /// Checks a target's raw connection info as far as it is known: the attributes in `open` have no known
    /// value yet.
    ///
    /// # Errors
    /// Fails as [`read`](Self::read) does.
    pub fn judge(
        &self,
        raw: RawConnectionInfo,
        open: &[String],
    ) -> Result<(), InvalidConnectionInfo> {
        let info = self.taken(raw, &mut |_, _| {}, &mut Vec::new());
        self.check(&info, open)
    }

    /// Extracts the transport's attributes from raw connection info, without defaults and with wrapped
    /// secrets. Unknown keys are added to `unknown`.
    fn taken(
        &self,
        raw: RawConnectionInfo,
        report: &mut impl FnMut(Level, String),
        unknown: &mut Vec<String>,
    ) -> ConnectionInfo {
        let (mut info, mut hidden) = (Hash::new(), Hash::new());
        for (key, value) in raw.into_hash() {
            let name = key.to_string();
            if name == "protocol" && self.names_no_protocol(&value) {
                continue;
            }
            if let Some(attribute) = self.connection_info.get(&name) {
                let mut value = value;
                if value.has_secret() {
                    hidden.insert(key.clone(), value.clone().into_sensitive());
                    value = Value::from(value.reveal_json());
                }
                // Undef is not a secret. Wrapped, it would count as given.
                if attribute.sensitive && !value.is_undef() {
                    hidden.remove(&name);
                    value = value.into_sensitive();
                }
                info.insert(key, value);
            } else if COMPUTED.contains(&name.as_str()) {
                report(
                    Level::Debug,
                    format!("`{}` does not use `{name}`", self.name),
                );
            } else if !is_reserved(&name) && !Self::GATEWAYS.contains(&name.as_str()) {
                unknown.push(name);
            }
        }
        ConnectionInfo { info, hidden }
    }

    /// Whether the `protocol` only names the transport. Inventories set it to a URI's scheme, or to
    /// `remote` without one, and many people write `frr://192.0.2.1`.
    fn names_no_protocol(&self, protocol: &Value) -> bool {
        let attribute = self.connection_info.get("protocol");
        let is_taken = || attribute.is_some_and(|attribute| attribute.check(protocol).is_ok());
        match protocol.as_str() {
            Some(REMOTE) => true,
            Some(name) => name == self.name && !is_taken(),
            None => false,
        }
    }

    /// Returns a task's `_target`: all of a target's connection info, including keys that the transport
    /// does not know, with the schema's defaults and wrapped secrets.
    pub fn target(&self, raw: RawConnectionInfo) -> Hash {
        let mut target = Hash::new();
        for (key, value) in raw.into_target() {
            let secret = self
                .connection_info
                .get(&key.to_string())
                .is_some_and(|a| a.sensitive);
            target.insert(
                key,
                if secret {
                    value.into_sensitive()
                } else {
                    value
                },
            );
        }
        for (name, attribute) in &self.connection_info {
            if let (None, Some(default)) = (target.get(name), &attribute.default) {
                target.insert(name.as_str(), default.clone());
            }
        }
        target
    }

    fn check(&self, info: &ConnectionInfo, open: &[String]) -> Result<(), InvalidConnectionInfo> {
        let groups = self.groups.iter().filter(|group| !group.names_any(open));
        let broken = groups.filter_map(|group| group.violation(info));
        let mut invalid = InvalidConnectionInfo {
            transport: self.name.clone(),
            mismatches: Vec::new(),
            missing: Vec::new(),
            broken: broken.collect(),
        };
        let ConnectionInfo { info, hidden } = info;
        for (key, value) in info.iter() {
            if open.iter().any(|open| key.as_str() == Some(open)) {
                continue;
            }
            let attribute = &self.connection_info[&key.to_string()];
            // A text with an `@` may contain a password before an address.
            let is_secret = attribute.sensitive
                || hidden.get(&key.to_string()).is_some()
                || value.as_str().is_some_and(|text| text.contains('@'));
            let verdict = if is_secret {
                attribute.check_secret(value)
            } else {
                attribute.check(value)
            };
            if let Err(violation) = verdict.map_err(|violation| attribute.taught(violation)) {
                invalid.mismatches.push(if is_secret {
                    format!("{key}: << redacted value >> {violation}")
                } else {
                    let from = if key.to_string() == "protocol" {
                        "; the scheme of a `uri` counts as `protocol`"
                    } else {
                        ""
                    };
                    let tip = tip(attribute, value);
                    format!("{key}: {} ({violation}{from}){tip}", shown(value))
                });
            }
        }
        for (name, attribute) in &self.connection_info {
            let is_given = || match info.get(name) {
                Some(value) => !value.is_undef(),
                None => attribute.default.is_some() || open.contains(name),
            };
            if attribute.is_mandatory() && !is_given() {
                invalid.missing.push(name.clone());
            }
        }
        if invalid.is_empty() {
            Ok(())
        } else {
            Err(invalid)
        }
    }
}

/// Returns how to write a value so that it has the attribute's type, as the end of a message.
fn tip(attribute: &Attribute, value: &Value) -> &'static str {
    let accepts = |value: Value| attribute.check(&value).is_ok();
    match value {
        Value::String(_) if accepts(Value::Boolean(true)) => {
            "; write true or false, without quotes"
        }
        Value::String(text)
            if text
                .parse()
                .is_ok_and(|number| accepts(Value::Integer(number))) =>
        {
            "; write it without quotes"
        }
        Value::Integer(number) if accepts(Value::from(number.to_string())) => "; put it in quotes",
        Value::Boolean(truth) if accepts(Value::from(truth.to_string())) => "; put it in quotes",
        _ => "",
    }
}
