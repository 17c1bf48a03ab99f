//! Reports that are kept in a folder, one file a device.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};
use devgate_schemas::Report;
use serde_json::Value as Json;

use crate::device_run::{as_puppet_yaml, puppet_report};
use crate::failure::Failure;
use crate::run::Job;

/// Where reports are kept, and how.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ReportOptions {
    /// With --apply: keep the report of each device in this folder, as NAME.json or NAME.yaml
    #[arg(long, value_name = "DIR", conflicts_with_all = ["facts", "resource"])]
    report: Option<PathBuf>,
    /// With --report: as whose report
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value_t,
        requires = "report"
    )]
    report_format: ReportFormat,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ReportFormat {
    /// As `--format json` prints it
    #[default]
    Devgate,
    /// As Puppet's agents send it to their server
    PuppetJson,
    /// As Puppet's servers keep it
    PuppetYaml,
}

impl ReportOptions {
    /// Makes the folder, so that nothing is changed whose report could not be kept.
    ///
    /// # Errors
    /// That it cannot be made.
    pub(super) fn prepare(&self) -> anyhow::Result<()> {
        if let Some(folder) = &self.report {
            let shown = folder.display();
            fs::create_dir_all(folder).with_context(|| format!("--report {shown}"))?;
        }
        Ok(())
    }

    /// Keeps the report of a device, without its secrets, for this user and group alone.
    ///
    /// # Errors
    /// That it cannot be written.
    pub(super) fn keep(&self, job: &Job<'_>, report: &Report, value: &Json) -> Result<(), Failure> {
        let Some(folder) = &self.report else {
            return Ok(());
        };
        let device = &job.target.name;
        let puppets = || job.without_secrets(puppet_report(report, device, &report.started));
        let (text, extension) = match self.report_format {
            ReportFormat::Devgate => (
                format!("{:#}\n", job.without_secrets(value.clone())),
                "json",
            ),
            ReportFormat::PuppetJson => (format!("{}\n", puppets()), "json"),
            ReportFormat::PuppetYaml => (as_puppet_yaml(&puppets()), "yaml"),
        };
        let path = folder.join(format!("{}.{extension}", file_name(device)));
        let mut options = File::options();
        let options = options.write(true).create(true).truncate(true).mode(0o640);
        let written = options
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| {
            let message = format!("the report is not kept: {}: {error}", path.display());
            Failure::new("devgate/no-report", message)
        })
    }
}

/// A target's name as a file's: it may be a URI, and two targets never get one file.
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
    fn targets_of_other_names_get_other_files() {
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
