//! `puppet device` and devgate side by side: one Ruby module, one `device.conf`, one manifest.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::lab::{lab, powerdns, text};
use crate::support::project::Project;
use crate::support::puppet::{folder, of_the_tests, puppet};
use crate::support::run::Run;

/// The program that runs the module.
#[derive(Clone, Copy, Debug)]
enum Side {
    Puppet,
    Devgate,
}

use Side::{Devgate, Puppet};

/// A name server of the lab, in a `device.conf` that both programs read, and the test's own zone on it.
struct Server {
    project: Project,
    lab: Value,
    zone: &'static str,
    reports: Vec<PathBuf>,
}

impl Server {
    /// Creates the server, with a credentials file that has this key.
    fn with_key(zone: &'static str, key: Option<&str>) -> Self {
        let lab = lab("pdns");
        let mut project = Project::new();
        let modules = project.path().join("modules");
        fs::create_dir(&modules).expect("a folder can be made");
        symlink(of_the_tests("ruby/pdns"), modules.join("pdns")).expect("a link can be made");
        let key = key.unwrap_or_else(|| text(&lab, "key"));
        let credentials = json!({ "host": lab["host"], "port": lab["port"], "apikey": key });
        let credentials = project.write("credentials.conf", &credentials.to_string());
        let conf = format!(
            "[ns1]\n  type pdns\n  url file://{}\n",
            credentials.display()
        );
        project.write("device.conf", &conf);
        Self {
            project,
            lab,
            zone,
            reports: Vec::new(),
        }
    }

    fn new(zone: &'static str) -> Self {
        Self::with_key(zone, None)
    }

    /// Runs the `device` command of one of the two programs.
    fn device(&self, side: Side, words: &[&str]) -> Run {
        let conf = self
            .project
            .path()
            .join("device.conf")
            .display()
            .to_string();
        let words = [
            &["device", "--target", "ns1", "--deviceconfig", &conf],
            words,
        ]
        .concat();
        match side {
            Devgate => self
                .project
                .run_program(&[&[env!("CARGO_BIN_EXE_devgate")], words.as_slice()].concat()),
            Puppet => {
                let lib = of_the_tests("ruby/pdns/lib").display().to_string();
                puppet(
                    &self.project,
                    &[words.as_slice(), &["--libdir", &lib]].concat(),
                )
            }
        }
    }

    /// Applies a manifest, and keeps the report of the run.
    fn apply(&mut self, side: Side, manifest: &str, options: &[&str]) -> Run {
        let manifest = self
            .project
            .write("site.pp", manifest)
            .display()
            .to_string();
        let apply = [&["--apply", &manifest, "--detailed-exitcodes"], options].concat();
        let (run, report) = match side {
            Puppet => {
                let state = folder(&self.project, "vardir").join("devices/ns1/state");
                (
                    self.device(Puppet, &apply),
                    state.join("last_run_report.yaml"),
                )
            }
            Devgate => {
                let report_options = ["--report", "kept", "--report-format", "puppet-yaml"];
                let run = self.device(Devgate, &[apply.as_slice(), &report_options].concat());
                (run, self.project.path().join("kept/ns1.yaml"))
            }
        };
        let report = fs::read_to_string(report).unwrap_or_else(|error| panic!("{error}: {run}"));
        let name = format!("{}.yaml", self.reports.len());
        self.reports.push(self.project.write(&name, &report));
        run
    }

    /// Returns Puppet's reading of the reports since the last call.
    fn reports(&mut self) -> Vec<Value> {
        let script = of_the_tests("oracle/puppet-events.rb");
        let files = [script].into_iter().chain(self.reports.drain(..));
        let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
        let words: Vec<&str> = ["ruby"]
            .into_iter()
            .chain(files.iter().map(String::as_str))
            .collect();
        let run = self.project.run_program(&words).succeeded();
        let lines = run.stdout.lines().map(serde_json::from_str);
        lines.map(|line| line.expect("a line is JSON")).collect()
    }

    /// Queries the server without either program.
    fn curl(&self, method: &str, body: &str) -> String {
        let zone = format!("/zones/{}.", self.zone);
        powerdns(&self.lab, &zone, &["-X", method, "-d", body])
    }

    /// Returns the zone as the server shows it, and its serial number, which every change increments.
    fn zone_and_serial(&self) -> (Value, Value) {
        let answer = self.curl("GET", "");
        let Ok(mut zone) = serde_json::from_str::<Value>(&answer) else {
            return (json!(answer), Value::Null);
        };
        let serial = zone["edited_serial"].take();
        zone["serial"].take();
        if let Some(sets) = zone["rrsets"].as_array_mut() {
            sets.retain(|set| set["type"] != "SOA");
            sets.sort_by_key(Value::to_string);
        }
        (zone, serial)
    }

    /// Removes what another run left of the zone.
    fn clear(&self) {
        self.curl("DELETE", "");
    }
}

/// An external change: a record's address, and an address that should not exist.
const DRIFT: &str = r#"{"rrsets": [
    {"name": "www.both.example.", "type": "A", "ttl": 60, "changetype": "REPLACE", "records": [
        {"content": "192.0.2.1", "disabled": false}, {"content": "192.0.2.99", "disabled": false}]},
    {"name": "old.both.example.", "type": "A", "ttl": 60, "changetype": "REPLACE", "records": [
        {"content": "192.0.2.9", "disabled": false}]}]}"#;

#[test]
fn one_module_has_the_same_effect_under_puppet_device_and_under_devgate() {
    let mut server = Server::new("both.example");
    let manifest = "\
        pdns_zone { 'Both.example': kind => 'Master', account => 'lab', nameservers => ['ns1.both.example.'] }\n\
        Pdns_record { zone => 'both.example' }\n\
        pdns_record { 'www.both.example A': content => ['192.0.2.2', '192.0.2.1'], ttl => 60 }\n\
        pdns_record { 'both.example.': rrtype => 'MX', content => ['10 mail.both.example.'] }\n\
        pdns_record { 'both.example TXT': content => ['\"one\"'], before => Pdns_record['www.both.example A'] }\n\
        pdns_record { 'old.both.example A': ensure => absent }\n";
    let [by_puppet, by_devgate] = [Puppet, Devgate].map(|side| {
        server.clear();
        let made = server.apply(side, manifest, &[]);
        let (zone, serial) = server.zone_and_serial();
        assert_eq!(zone["account"], "lab", "{made}");
        if matches!(side, Devgate) {
            // The provider uses the canonical name; people see the name that they wrote.
            let made = made.shows(&[
                "ns1: pdns_record[www.both.example A]: Processed www.both.example. A from",
            ]);
            assert!(!made.stderr.contains("pdns_record: "), "{made}");
        }
        let again = server.apply(side, manifest, &[]);
        assert_eq!(server.zone_and_serial(), (zone.clone(), serial), "{again}");

        server.curl("PUT", r#"{"account": "elsewhere"}"#);
        server.curl("PATCH", DRIFT);
        let drifted = server.zone_and_serial();
        assert_ne!(drifted.0, zone);
        let noop = server.apply(side, manifest, &["--noop"]);
        assert_eq!(server.zone_and_serial(), drifted, "{noop}");
        let mended = server.apply(side, manifest, &[]);
        assert_eq!(server.zone_and_serial().0, zone, "{mended}");

        let missing = "pdns_zone { 'both.example': ensure => absent }\n";
        let missing = server.apply(side, missing, &[]);
        assert_eq!(server.zone_and_serial().0, "Not Found", "{missing}");
        (zone, server.reports())
    });
    assert_eq!(by_puppet.0, by_devgate.0);
    for (puppet, devgate) in by_puppet.1.iter().zip(&by_devgate.1) {
        assert_eq!(puppet, devgate, "{puppet:#}\n{devgate:#}");
    }
    let statuses = by_puppet.1.iter().map(|report| &report["status"]);
    let expected = ["changed", "unchanged", "unchanged", "changed", "changed"];
    assert_eq!(statuses.collect::<Vec<_>>(), expected);
}

#[test]
fn one_module_reports_the_same_facts_to_puppet_device_and_to_devgate() {
    let server = Server::new("facts.example");
    let report = server.device(Puppet, &["--facts"]).succeeded();
    let mut report = report.json()["values"].take();
    let facts = report.as_object_mut().expect("facts are an object");
    facts.retain(|name, _| !name.starts_with("client"));
    let ours = server
        .device(Devgate, &["--facts", "--format", "json"])
        .succeeded();
    assert_eq!(ours.item()["value"], report);
    assert_eq!(report["operatingsystem"], "PowerDNS");
}

#[test]
fn what_fails_under_puppet_device_fails_under_devgate_and_takes_as_little_with_it() {
    let mut server = Server::new("fails.example");
    let manifest = "\
        pdns_zone { 'fails.example': }\n\
        Pdns_record { zone => 'fails.example' }\n\
        pdns_record { 'bad.fails.example A': content => ['no address'] }\n\
        pdns_record { 'after.fails.example A': content => ['192.0.2.1'], require => Pdns_record['bad.fails.example A'] }\n\
        pdns_record { 'beside.fails.example A': content => ['192.0.2.2'] }\n";
    let [by_puppet, by_devgate] = [Puppet, Devgate].map(|side| {
        server.clear();
        let run = server.apply(side, manifest, &[]);
        let mut report = server.reports().remove(0);
        let resources = report["resources"].as_array_mut().expect("resources");
        let failed: Vec<Value> = resources
            .extract_if(.., |one| one["failed"] == true)
            .collect();
        let [failed] = failed.try_into().expect("one has failed");
        let why = "PATCH /zones/fails.example.: 422 Record bad.fails.example./A 'no address'";
        assert!(failed["events"].to_string().contains(why), "{failed:#}");
        assert_eq!(failed["out_of_sync"], true);
        (run.code(), server.zone_and_serial().0, report)
    });
    assert_eq!(by_puppet.1, by_devgate.1);
    assert_eq!(by_puppet.2, by_devgate.2);
    // When a file is applied, Puppet's exit code does not report failures or changes.
    assert_eq!((by_puppet.0, by_devgate.0), (Some(0), Some(2 + 4)));
    server.clear();
}

#[test]
fn what_one_prints_of_a_device_the_other_finds_as_it_is() {
    let mut server = Server::new("shows.example");
    let manifest = "\
        pdns_zone { 'shows.example': kind => 'Master', account => 'it\\'s $5' }\n\
        pdns_record { 'shows.example TXT': zone => 'shows.example', ttl => 5, content => ['\"a b\"', '\"c\"'] }\n";
    server.clear();
    server.apply(Devgate, manifest, &[]);
    let before = server.zone_and_serial();
    for (shows, applies) in [(Puppet, Devgate), (Devgate, Puppet)] {
        let resources = [
            ("pdns_zone", "shows.example."),
            ("pdns_record", "shows.example. TXT"),
        ];
        let output = resources.map(|(kind, title)| {
            let run = server
                .device(shows, &["--resource", kind, title])
                .succeeded();
            assert!(run.stdout.contains("=> 'present'"), "{run}");
            run.stdout
        });
        let run = server.apply(applies, &output.concat(), &[]);
        assert_eq!(run.code(), Some(0), "{run}");
        assert_eq!(server.zone_and_serial(), before, "{run}");
    }
    let reports = server.reports();
    assert!(
        reports[1..]
            .iter()
            .all(|report| report["status"] == "unchanged"),
        "{reports:#?}"
    );
    server.clear();
}

#[test]
fn credentials_that_a_device_refuses_are_reported_by_both_and_shown_by_none() {
    let server = Server::with_key("none.example", Some("a-wrong-canary"));
    for side in [Puppet, Devgate] {
        for words in [["--facts", ""], ["--resource", "pdns_zone"]] {
            server
                .device(side, &words)
                .failed()
                .shows(&["401 Unauthorized"]);
        }
    }
}
