//! Reports in a folder, one file per device.

use std::path::PathBuf;

use clap::Args;
use devgate_engine::operations::{ReportFormat, Reports};

/// Where reports are saved, and their format.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct ReportOptions {
    /// With --apply: save the report of each device in this folder, as NAME.json or NAME.yaml
    #[arg(long, value_name = "DIR", conflicts_with_all = ["facts", "resource"])]
    report: Option<PathBuf>,
    /// With --report: format of the reports
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value_t,
        requires = "report"
    )]
    report_format: ReportFormat,
}

impl ReportOptions {
    /// The requested settings, if there are any.
    pub(super) fn reports(self) -> Option<Reports> {
        let format = self.report_format;
        self.report.map(|folder| Reports { folder, format })
    }
}
