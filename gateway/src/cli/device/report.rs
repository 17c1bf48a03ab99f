//! Reports that are kept in a folder, one file a device.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::operations::{self, Reports};

/// Where reports are kept, and how.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct ReportOptions {
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
    /// What is asked for, if anything is.
    pub(super) fn reports(self) -> Option<Reports> {
        let format = match self.report_format {
            ReportFormat::Devgate => operations::ReportFormat::Devgate,
            ReportFormat::PuppetJson => operations::ReportFormat::PuppetJson,
            ReportFormat::PuppetYaml => operations::ReportFormat::PuppetYaml,
        };
        let folder = self.report?;
        Some(Reports { folder, format })
    }
}
