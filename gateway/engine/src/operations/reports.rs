//! Reports that are stored in a folder, one file for each device.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::ValueEnum;
use devgate_core::atomic_file;
use devgate_core::failure::Failure;
use devgate_schemas::Report;
use serde_json::Value as Json;

use crate::device_run::{as_puppet_yaml, puppet_report};
use crate::job::TargetJob;

/// Where and in which format reports are stored.
#[derive(Debug)]
pub struct Reports {
    /// The folder.
    pub folder: PathBuf,
    /// The format of the reports.
    pub format: ReportFormat,
}

/// The format of a stored report.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ReportFormat {
    /// As `--format json` prints it
    #[default]
    Devgate,
    /// As Puppet agents send it to their server
    PuppetJson,
    /// As Puppet servers store it
    PuppetYaml,
}

impl Reports {
    /// Creates the folder, so that no device is changed whose report could not be stored.
    ///
    /// # Errors
    /// Fails when the folder cannot be created.
    pub(super) fn prepare(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)
    }

    /// Writes the report of a device, without its secrets, readable for this user and group alone.
    ///
    /// # Errors
    /// Fails when the file cannot be written.
    pub(super) fn store(
        &self,
        job: &TargetJob<'_>,
        report: &Report,
        value: &Json,
    ) -> Result<(), Failure> {
        let device = &job.target.name;
        let puppet_json = || job.without_secrets(puppet_report(report, device, &report.started));
        let (content, extension) = match self.format {
            ReportFormat::Devgate => (
                format!("{:#}\n", job.without_secrets(value.clone())),
                "json",
            ),
            ReportFormat::PuppetJson => (format!("{}\n", puppet_json()), "json"),
            ReportFormat::PuppetYaml => (as_puppet_yaml(&puppet_json()), "yaml"),
        };
        let path = self
            .folder
            .join(format!("{}.{extension}", file_name(device)));
        let result = atomic_file::replace(&path, content.as_bytes(), 0o640);
        result.map_err(|error| {
            let message = format!("cannot save the report: {}: {error}", path.display());
            Failure::new("devgate/no-report", message)
        })
    }
}

/// Turns a target's name into a file name. The name may be a URI, and two targets never share a file.
fn file_name(target: &str) -> String {
    let mut name = String::with_capacity(target.len());
    for c in target.chars() {
        match c {
            '/' | '\\' | '\0' | '%' => name.push_str(&format!("%{:02X}", u32::from(c))),
            _ => name.push(c),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn targets_with_different_names_get_different_files() {
        for (target, file) in [
            ("r1.example.com", "r1.example.com"),
            ("a_b", "a_b"),
            ("a/b", "a%2Fb"),
            ("a%2Fb", "a%252Fb"),
            ("ssh://r1", "ssh:%2F%2Fr1"),
        ] {
            assert_eq!(file_name(target), file);
        }
    }
}
