//! Evaluating the configuration for one host.

use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

use super::item::{Item, Place};
use super::read::SshConfig;
use crate::glob::glob;
use crate::{Error, Result};

/// The options that the configuration sets for one host; `None` where it sets none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostOptions {
    pub(crate) host_name: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) port: Option<u16>,
    pub(crate) host_key_alias: Option<String>,
    /// Unexpanded, as written in the file.
    pub(crate) identity_files: Vec<String>,
    pub(crate) certificate_files: Vec<String>,
    pub(crate) identities_only: bool,
    pub(crate) identity_agent: Option<String>,
    pub(crate) proxy_jump: Option<String>,
    pub(crate) kex: Option<String>,
    pub(crate) ciphers: Option<String>,
    pub(crate) macs: Option<String>,
    pub(crate) host_keys: Option<String>,
    pub(crate) user_keys: Option<String>,
    pub(crate) alive_interval: Option<Duration>,
    pub(crate) alive_count_max: Option<usize>,
    pub(crate) known_hosts: Option<Vec<String>>,
    pub(crate) strict: Option<Strict>,
    pub(crate) connect_timeout: Option<Duration>,
}

/// How strictly host keys are checked (`StrictHostKeyChecking`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strict {
    Yes,
    AcceptNew,
    No,
}

/// The values of a host's keywords, each with its place in a file.
#[derive(Default)]
struct Values<'c>(HashMap<&'c str, Vec<(&'c [String], &'c Place)>>);

impl SshConfig {
    /// Returns the options for a host, looked up by the name that the user gave.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`] when a value for this host cannot be used. The message names its place.
    pub(crate) fn options_for(&self, host: &str) -> Result<HostOptions> {
        let mut values = Values::default();
        values.collect(&self.0, host, true);
        values.proxy_command()?;
        let host_name = values.text("hostname");
        Ok(HostOptions {
            host_name: host_name.map(|name| name.replace("%h", host).replace("%%", "%")),
            user: values.text("user"),
            port: values.parsed("port", "Port", "a port number")?,
            host_key_alias: values.text("hostkeyalias"),
            identity_files: values.list("identityfile"),
            certificate_files: values.list("certificatefile"),
            identities_only: values
                .text("identitiesonly")
                .is_some_and(|word| is_yes(&word)),
            identity_agent: values.text("identityagent"),
            proxy_jump: values.text("proxyjump"),
            kex: values.text("kexalgorithms"),
            ciphers: values.text("ciphers"),
            macs: values.text("macs"),
            host_keys: values.text("hostkeyalgorithms"),
            user_keys: values
                .text("pubkeyacceptedalgorithms")
                .or_else(|| values.text("pubkeyacceptedkeytypes")),
            alive_interval: values.time("serveraliveinterval", "ServerAliveInterval")?,
            alive_count_max: values.parsed(
                "serveralivecountmax",
                "ServerAliveCountMax",
                "a number",
            )?,
            known_hosts: values.words("userknownhostsfile"),
            strict: values.strict()?,
            connect_timeout: values.time("connecttimeout", "ConnectTimeout")?,
        })
    }
}

impl<'c> Values<'c> {
    /// Collects the values that apply to a host. A block ends with its file; `outside` tells whether
    /// the surrounding block, where the file is included, applies.
    fn collect(&mut self, items: &'c [Item], host: &str, outside: bool) {
        let mut applies = outside;
        for item in items {
            match item {
                Item::Host(patterns) => applies = outside && fits(patterns, host),
                Item::Match => applies = false,
                Item::Include(files) => {
                    for file in files {
                        self.collect(file, host, applies);
                    }
                }
                Item::Keyword { name, words, place } if applies => {
                    self.0.entry(name).or_default().push((words, place));
                }
                Item::Keyword { .. } => {}
            }
        }
    }

    fn first(&self, name: &str) -> Option<(&'c [String], &'c Place)> {
        self.0.get(name)?.first().copied()
    }

    /// Returns the first value of a keyword, with its words joined by blanks.
    fn text(&self, name: &str) -> Option<String> {
        Some(self.first(name)?.0.join(" "))
    }

    fn words(&self, name: &str) -> Option<Vec<String>> {
        Some(self.first(name)?.0.to_vec())
    }

    /// Returns all values of a keyword that accumulates. For other keywords, only the first value counts.
    fn list(&self, name: &str) -> Vec<String> {
        let all = self.0.get(name).into_iter().flatten();
        all.map(|(words, _)| words.join(" ")).collect()
    }

    fn parsed<T: FromStr>(
        &self,
        name: &str,
        keyword: &'static str,
        expected: &str,
    ) -> Result<Option<T>> {
        let Some((words, place)) = self.first(name) else {
            return Ok(None);
        };
        let text = words.join(" ");
        let parsed = text.parse();
        parsed
            .map(Some)
            .map_err(|_| problem(keyword, place, format!("`{text}` is not {expected}")))
    }

    /// Parses a time in seconds or as `1h30m`. Returns `None` for the word `none`, too.
    fn time(&self, name: &str, keyword: &'static str) -> Result<Option<Duration>> {
        let Some((words, place)) = self.first(name) else {
            return Ok(None);
        };
        let text = words.join(" ");
        if text.eq_ignore_ascii_case("none") {
            return Ok(None);
        }
        let wrong = || problem(keyword, place, format!("`{text}` is no time in seconds"));
        let (mut sum, mut number) = (0_u64, String::new());
        for c in text.chars() {
            let unit = match c {
                '0'..='9' => {
                    number.push(c);
                    continue;
                }
                's' | 'S' => 1,
                'm' | 'M' => 60,
                'h' | 'H' => 3_600,
                'd' | 'D' => 86_400,
                'w' | 'W' => 604_800,
                _ => return Err(wrong()),
            };
            let count: u64 = number.parse().map_err(|_| wrong())?;
            sum = sum.saturating_add(count.saturating_mul(unit));
            number.clear();
        }
        if !number.is_empty() {
            sum = sum.saturating_add(number.parse().map_err(|_| wrong())?);
        }
        Ok(Some(Duration::from_secs(sum)))
    }

    fn strict(&self) -> Result<Option<Strict>> {
        let Some((words, place)) = self.first("stricthostkeychecking") else {
            return Ok(None);
        };
        let text = words.join(" ").to_lowercase();
        Ok(Some(match text.as_str() {
            // Runs are not interactive, so nobody can answer a question.
            "yes" | "true" | "ask" => Strict::Yes,
            "accept-new" => Strict::AcceptNew,
            "no" | "false" | "off" => Strict::No,
            _ => {
                let message = format!("`{text}` is none of yes, no, ask, accept-new");
                return Err(problem("StrictHostKeyChecking", place, message));
            }
        }))
    }

    /// Refuses `ProxyCommand`, which would start a program. It does not count after `ProxyJump` in the same file.
    fn proxy_command(&self) -> Result<()> {
        let Some((words, place)) = self.first("proxycommand") else {
            return Ok(());
        };
        let jump = self.first("proxyjump");
        let earlier =
            jump.is_some_and(|(_, jump)| jump.file == place.file && jump.line < place.line);
        if earlier
            || words
                .first()
                .is_some_and(|word| word.eq_ignore_ascii_case("none"))
        {
            return Ok(());
        }
        let message = "would start a program, which is not supported: use `ProxyJump`, or say in \
                       the inventory `load-config: false`";
        Err(problem("ProxyCommand", place, message.to_owned()))
    }
}

/// Returns whether a `Host` line applies to a host: one pattern matches, and no negated one does.
fn fits(patterns: &[String], host: &str) -> bool {
    let mut found = false;
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            Some(pattern) if glob(pattern, host) => return false,
            Some(_) => {}
            None => found |= glob(pattern, host),
        }
    }
    found
}

fn is_yes(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "yes" | "true")
}

fn problem(setting: &'static str, place: &Place, message: String) -> Error {
    Error::Setting {
        setting,
        problem: format!("{message} ({place})"),
    }
}
