//! Log destinations besides the terminal, like Puppet's `--logdest`: syslog and files.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixDatagram;
use std::str::FromStr;
use std::time::SystemTime;

use devgate_core::time::to_the_nanosecond;
use devgate_schemas::Level;
use serde_json::json;

/// The socket of syslog.
const SYSLOG: &str = "/dev/log";

/// The facility `daemon` (RFC 3164, 4.1.1).
const DAEMON: u8 = 3;

/// A log destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogDest {
    /// Standard error.
    Console,
    /// The system log.
    Syslog,
    /// A file. Its extension selects the format: a JSON list (`json`), a JSON object per line (`jsonl`), else text.
    File(String),
}

/// The open log destinations.
#[derive(Debug)]
pub struct Logs {
    /// Whether the terminal is one of the destinations.
    pub console: bool,
    sinks: Vec<OpenSink>,
}

#[derive(Debug)]
struct OpenSink {
    name: String,
    sink: Sink,
    /// Whether lines were lost.
    has_lost: bool,
}

#[derive(Debug)]
enum Sink {
    Syslog(UnixDatagram),
    Lines(File),
    /// What to write before the next object: the bracket of the list, then commas.
    Json(File, &'static str),
    JsonLines(File),
}

impl FromStr for LogDest {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "" => Err("expected `console`, `syslog` or a file"),
            "console" => Ok(Self::Console),
            "syslog" => Ok(Self::Syslog),
            "eventlog" => {
                Err("the event log exists only on Windows: expected `console`, `syslog` or a file")
            }
            file => Ok(Self::File(file.to_owned())),
        }
    }
}

impl Default for Logs {
    fn default() -> Self {
        Self {
            console: true,
            sinks: Vec::new(),
        }
    }
}

impl Logs {
    /// Opens these destinations.
    ///
    /// # Errors
    /// A destination cannot be written.
    pub fn open(destinations: &[LogDest]) -> Result<Self, String> {
        let mut logs = Self {
            console: destinations.contains(&LogDest::Console),
            sinks: Vec::new(),
        };
        for destination in destinations {
            let (name, sink) = match destination {
                LogDest::Console => continue,
                LogDest::Syslog => (SYSLOG, syslog()),
                LogDest::File(name) => (name.as_str(), file(name)),
            };
            let sink =
                sink.map_err(|error| format!("--logdest: cannot write to {name}: {error}"))?;
            logs.sinks.push(OpenSink {
                name: name.to_owned(),
                sink,
                has_lost: false,
            });
        }
        Ok(logs)
    }

    /// Writes a line without secrets. A destination that cannot be written does not stop the run. Returns a message for
    /// each destination that has lost its first line.
    #[must_use]
    pub fn write(&mut self, level: Level, line: &str) -> Vec<String> {
        let mut messages = Vec::new();
        for OpenSink {
            name,
            sink,
            has_lost,
        } in &mut self.sinks
        {
            if let Err(error) = sink.write(level, line)
                && !std::mem::replace(has_lost, true)
            {
                messages.push(format!(
                    "--logdest: cannot write to {name}: {error}: lines of the log are lost"
                ));
            }
        }
        messages
    }

    /// Returns whether lines were lost.
    pub fn has_lost(&self) -> bool {
        self.sinks.iter().any(|sink| sink.has_lost)
    }
}

fn syslog() -> io::Result<Sink> {
    let socket = UnixDatagram::unbound()?;
    socket.connect(SYSLOG)?;
    // A full log must not delay the run.
    socket.set_nonblocking(true)?;
    Ok(Sink::Syslog(socket))
}

fn file(name: &str) -> io::Result<Sink> {
    let mut options = File::options();
    let file = options.append(true).create(true).mode(0o640).open(name)?;
    let is_new = file.metadata()?.len() == 0;
    Ok(match name.rsplit_once('.') {
        Some((_, "json")) => Sink::Json(file, if is_new { "[\n" } else { ",\n" }),
        Some((_, "jsonl")) => Sink::JsonLines(file),
        _ => Sink::Lines(file),
    })
}

impl Sink {
    fn write(&mut self, level: Level, line: &str) -> io::Result<()> {
        let now = || to_the_nanosecond(SystemTime::now());
        let object =
            || json!({ "time": now(), "level": level, "source": "devgate", "message": line });
        let mut text = String::new();
        let file = match self {
            Self::Syslog(socket) => {
                let priority = DAEMON * 8 + severity(level);
                let process = std::process::id();
                let packet = format!("<{priority}>devgate[{process}]: {line}");
                return match socket.send(packet.as_bytes()) {
                    // A busy system log drops lines of everybody.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
                    sent => sent.map(drop),
                };
            }
            Self::Lines(file) => {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{} devgate ({level}): {line}", now());
                file
            }
            Self::Json(file, before) => {
                let _ = write!(text, "{before}{}", object());
                file.write_all(text.as_bytes())?;
                *before = ",\n";
                return Ok(());
            }
            Self::JsonLines(file) => {
                let _ = writeln!(text, "{}", object());
                file
            }
        };
        file.write_all(text.as_bytes())
    }
}

/// The severity of a level (RFC 3164, 4.1.1).
fn severity(level: Level) -> u8 {
    match level {
        Level::Err => 3,
        Level::Warning => 4,
        Level::Notice => 5,
        Level::Info => 6,
        Level::Debug => 7,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value as Json;

    use super::*;

    #[test]
    fn a_file_is_written_as_its_extension_says() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let names = ["a.log", "a.json", "a.jsonl"].map(|name| dir.path().join(name));
        let destinations = names
            .each_ref()
            .map(|path| LogDest::File(path.display().to_string()));
        for _ in 0..2 {
            let mut logs = Logs::open(&destinations).expect("they can be written to");
            assert!(!logs.console);
            let lost = logs.write(Level::Notice, "r1: done \"well\"");
            assert!(lost.is_empty() && !logs.has_lost(), "{lost:?}");
        }
        let [lines, list, objects] =
            names.map(|path| fs::read_to_string(path).expect("it is there"));
        assert_eq!(lines.lines().count(), 2);
        assert!(
            lines.contains(" devgate (notice): r1: done \"well\"\n"),
            "{lines}"
        );
        let list: Json = serde_json::from_str(&format!("{list}]"))?;
        assert_eq!(list[1]["message"], "r1: done \"well\"");
        let objects: Vec<Json> = objects
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()?;
        assert_eq!(
            (objects.len(), &objects[0]["level"]),
            (2, &Json::from("notice"))
        );
        Ok(())
    }

    #[test]
    fn a_lost_log_is_reported_once() {
        let full = LogDest::File("/dev/full".to_owned());
        let mut logs = Logs::open(&[full]).expect("it can be opened");
        let lost = logs.write(Level::Notice, "one");
        assert!(
            matches!(lost.as_slice(), [message] if message.starts_with("--logdest: cannot write to /dev/full: ")),
            "{lost:?}"
        );
        assert_eq!(logs.write(Level::Notice, "two"), [""; 0]);
        assert!(logs.has_lost());
    }

    #[test]
    fn what_cannot_be_written_to_is_reported() {
        let nowhere = LogDest::File("/nowhere/x.log".to_owned());
        let error = Logs::open(&[nowhere]).expect_err("there is no such folder");
        assert!(
            error.starts_with("--logdest: cannot write to /nowhere/x.log: "),
            "{error}"
        );
        assert!("eventlog".parse::<LogDest>().is_err());
    }
}
