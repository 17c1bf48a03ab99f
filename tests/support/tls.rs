//! A server with TLS as one wants it to be: OpenSSL's, with a certificate of an authority of its own.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;

use tempfile::TempDir;

use super::lab::{command_for, output};
use super::run::Process;

/// A server on a port of its own; it ends when it is dropped.
pub(crate) struct TlsServer {
    pub(crate) port: u16,
    folder: TempDir,
    _process: Process,
}

impl TlsServer {
    /// Starts it with a certificate that is good between two dates, as `date` reads them, and with more options
    /// of `openssl s_server`.
    pub(crate) fn start(from: &str, until: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().display();
        let lab = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/lab");
        let make = format!(
            ". {lab}/lib.sh; . {lab}/pki.sh; make_pki {path}; dated {path} dated '{from}' '{until}'"
        );
        output(command_for("bash").args(["-c", &make]));
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = port.expect("a port is free").port();
        let process = Process(
            command_for("openssl")
                .args(["s_server", "-www", "-quiet", "-accept"])
                .arg(format!("127.0.0.1:{port}"))
                .args(["-cert", "dated.pem", "-key", "dated.key"])
                .args(options)
                .current_dir(folder.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("openssl can be started"),
        );
        Self {
            port,
            folder,
            _process: process,
        }
    }

    /// The certificate of its authority.
    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }
}
