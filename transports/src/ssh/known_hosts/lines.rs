//! The lines of one file of known hosts, found by the name of a host.

use std::collections::HashMap;
use std::path::Path;
use std::str::SplitWhitespace;

use hmac::{Hmac, KeyInit, Mac};
use russh::keys::PublicKey;
use russh::keys::ssh_key::known_hosts::{HostPatterns, Marker};
use sha1::Sha1;

use super::Record;
use crate::glob::glob;

/// The lines of a file. Their keys are decoded when a host needs them.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    /// The number of lines.
    count: usize,
    /// The lines whose names are written out, by name.
    by_name: HashMap<String, Vec<Place>>,
    /// The lines whose names are hashed, or contain patterns: each must be compared with each name.
    unnamed: Vec<Place>,
    /// Those of them that apply, by the names that were asked for.
    compared: HashMap<String, Vec<Place>>,
}

/// A line of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    number: usize,
    start: usize,
}

/// The fields of a line. The key is the longest by far, and rarely needed.
struct Fields<'l> {
    marker: Option<Marker>,
    hosts: &'l str,
    rest: SplitWhitespace<'l>,
}

impl Lines {
    /// Takes the present text of the file. If lines were only added, only these are parsed.
    pub(super) fn update(&mut self, text: String) {
        if !(self.text.ends_with('\n') && text.starts_with(&self.text)) {
            *self = Self::default();
        }
        let mut start = self.text.len();
        let unnamed = self.unnamed.len();
        for line in text[start..].split_inclusive('\n') {
            self.count += 1;
            let number = self.count;
            self.add(Place { number, start }, line);
            start += line.len();
        }
        if self.unnamed.len() > unnamed {
            self.compared.clear();
        }
        self.text = text;
    }

    fn add(&mut self, place: Place, line: &str) {
        let Some(Fields { hosts, .. }) = Fields::of(line) else {
            return;
        };
        if hosts.bytes().any(|byte| b"|*?!".contains(&byte)) {
            self.unnamed.push(place);
            return;
        }
        for name in hosts.split_terminator(',') {
            let places = self.by_name.entry(name.to_lowercase()).or_default();
            // A line may contain a name twice.
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
    }

    /// Collects the lines that apply to a host, in order. Invalid lines are ignored.
    pub(super) fn collect(&mut self, file: &Path, name: &str, records: &mut Vec<Record>) {
        self.compare(name);
        let found = [self.by_name.get(name), self.compared.get(name)];
        let mut places: Vec<Place> = found.into_iter().flatten().flatten().copied().collect();
        places.sort_unstable();
        for Place { number, start } in places {
            let fields = Fields::at(&self.text, start);
            if let Some((marker, key)) = fields.and_then(Fields::key) {
                records.push(Record {
                    marker,
                    key,
                    file: file.to_owned(),
                    line: number,
                });
            }
        }
    }

    /// Compares the name with the unnamed lines, once: a hashed name takes a hash for each.
    fn compare(&mut self, name: &str) {
        if self.unnamed.is_empty() || self.compared.contains_key(name) {
            return;
        }
        let applies = |place: &&Place| {
            let fields = Fields::at(&self.text, place.start);
            fields.is_some_and(|fields| matches_host(fields.hosts, name))
        };
        let places = self.unnamed.iter().filter(applies).copied().collect();
        self.compared.insert(name.to_owned(), places);
    }
}

impl<'l> Fields<'l> {
    /// Returns the fields of the line that begins there.
    fn at(text: &'l str, start: usize) -> Option<Self> {
        text[start..].lines().next().and_then(Self::of)
    }

    /// Returns the fields of a line, or `None` if it is a comment or has an unknown marker.
    fn of(line: &'l str) -> Option<Self> {
        let mut rest = line.split_whitespace();
        let mut hosts = rest.next()?;
        let mut marker = None;
        if hosts.starts_with('#') {
            return None;
        }
        if hosts.starts_with('@') {
            marker = Some(hosts.parse().ok()?);
            hosts = rest.next()?;
        }
        Some(Self {
            marker,
            hosts,
            rest,
        })
    }

    /// Decodes the key, unless it is invalid.
    fn key(mut self) -> Option<(Option<Marker>, PublicKey)> {
        let (algorithm, key) = (self.rest.next()?, self.rest.next()?);
        let key = PublicKey::from_openssh(&format!("{algorithm} {key}")).ok()?;
        Some((self.marker, key))
    }
}

/// Returns whether the list of hosts of a line contains a name.
pub(super) fn matches_host(hosts: &str, name: &str) -> bool {
    match hosts.parse() {
        Ok(HostPatterns::Patterns(patterns)) => {
            let mut matched = false;
            for pattern in &patterns {
                match pattern.strip_prefix('!') {
                    Some(pattern) if glob(&pattern.to_lowercase(), name) => return false,
                    Some(_) => {}
                    None => matched |= glob(&pattern.to_lowercase(), name),
                }
            }
            matched
        }
        Ok(HostPatterns::HashedName { salt, hash }) => Hmac::<Sha1>::new_from_slice(&salt)
            .is_ok_and(|mac| mac.chain_update(name).verify_slice(&hash).is_ok()),
        Err(_) => false,
    }
}
