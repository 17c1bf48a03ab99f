//! A configurable TLS server: OpenSSL's, with a certificate of its own authority.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use tempfile::TempDir;

use super::lab::{command_for, output};
use super::run::Process;

/// A server on its own port; it ends when it is dropped.
pub(crate) struct TlsServer {
    pub(crate) port: u16,
    folder: TempDir,
    _process: Process,
}

impl TlsServer {
    /// Starts the server with a certificate that is valid between two dates, in the format of `date`, and
    /// with additional options of `openssl s_server`.
    pub(crate) fn start(from: &str, until: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().display();
        let lab = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/lab");
        let make = format!(
            ". {lab}/lib.sh; . {lab}/pki.sh; make_pki {path}; dated {path} dated '{from}' '{until}'"
        );
        output(command_for("bash").args(["-c", &make]));
        let server = command_for("openssl")
            .args(["s_server", "-www", "-accept", "127.0.0.1:0"])
            .args(["-cert", "dated.pem", "-key", "dated.key"])
            .args(options)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut process = Process(server.expect("openssl can be started"));
        let stdout = process.0.stdout.take().expect("it is a pipe");
        // The server prints its port as soon as it listens.
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let port = lines.find_map(|line| line.strip_prefix("ACCEPT 127.0.0.1:")?.parse().ok());
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            port: port.expect("it listens"),
            folder,
            _process: process,
        }
    }

    /// Returns the certificate of its authority.
    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }
}
