//! The global options of every command.

use std::path::PathBuf;
use std::time::Duration;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use clap::{Args, ValueEnum};
use devgate_engine::project::Format;
use devgate_schemas::Sensitive;
use devgate_transports::RetryBudget;

/// The heading of the global options.
pub const GLOBAL: &str = "Global options";

/// The options of every command.
#[derive(Args, Clone, Debug)]
pub struct GlobalOptions {
    /// Project folder, with inventory.yaml and modules/ (default: the nearest folder upwards with a bolt-project.yaml,
    /// else the current folder)
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = GLOBAL
    )]
    pub project: Option<PathBuf>,
    /// Inventory file (default: inventory.yaml in the project)
    #[arg(
        short,
        long,
        global = true,
        value_name = "FILE",
        help_heading = GLOBAL
    )]
    pub inventoryfile: Option<PathBuf>,
    /// A device.conf; its devices are targets too (default: the file of `puppet device`)
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help_heading = GLOBAL
    )]
    pub deviceconfig: Option<PathBuf>,
    /// Fail if any target's entry is malformed, or if a named target cannot be used (default: only that target fails);
    /// `inventory show --strict` checks every target's settings and references
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub strict: bool,
    /// Module folders, separated by colons (default: modules in the project)
    #[arg(
        short,
        long,
        global = true,
        value_name = "DIRS",
        help_heading = GLOBAL
    )]
    pub modulepath: Option<String>,
    /// Format of the results on stdout (default: the project's, else human); table and csv print rows
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        help_heading = GLOBAL
    )]
    format: Option<OutputFormat>,
    /// How long to retry a target that does not answer, in total (default and maximum: 30)
    #[arg(
        long = "patience",
        global = true,
        value_name = "SECONDS",
        value_parser = retry_budget,
        help_heading = GLOBAL
    )]
    pub retry_budget: Option<Duration>,
    /// Log more: progress messages of transports and providers
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub verbose: bool,
    /// Print only results and errors: no warnings, no progress, no summary
    #[arg(long, global = true, conflicts_with = "verbose", help_heading = GLOBAL)]
    pub quiet: bool,
    /// Minimum level of messages on stderr (default: notice)
    #[arg(
        long,
        global = true,
        value_name = "LEVEL",
        help_heading = GLOBAL
    )]
    pub log_level: Option<LogLevel>,
    /// When to use colour; no information is shown by colour alone
    #[arg(
        long,
        global = true,
        default_value = "auto",
        help_heading = GLOBAL
    )]
    color: ColorWhen,
    #[arg(long, global = true, hide = true)]
    no_color: bool,
    /// A folder with Ruby code besides the modules: an option of `device` only.
    #[arg(skip)]
    pub libdir: Option<PathBuf>,
    /// The inventory as data: the configuration of a PXP module may contain it.
    #[arg(skip)]
    pub inventory: Option<Sensitive<String>>,
}

/// Parses the time to retry a target.
fn retry_budget(text: &str) -> Result<Duration, String> {
    let max = RetryBudget::LIMIT.as_secs();
    match text.parse() {
        Ok(seconds) if (1..=max).contains(&seconds) => Ok(Duration::from_secs(seconds)),
        _ => Err(format!(
            "expected 1 to {max} seconds: a run retries a target that is down for at most {max} s; run it again \
             later"
        )),
    }
}

impl GlobalOptions {
    /// The requested format.
    pub fn format(&self) -> Option<Format> {
        self.format.map(OutputFormat::format)
    }

    /// The requested format of rows.
    pub fn row_format(&self) -> Option<RowFormat> {
        match self.format? {
            OutputFormat::Table => Some(RowFormat::Table),
            OutputFormat::Csv => Some(RowFormat::Csv),
            OutputFormat::Human | OutputFormat::Json | OutputFormat::Jsonl => None,
        }
    }

    /// When to use colour.
    pub fn color(&self) -> ColorWhen {
        if self.no_color {
            ColorWhen::Never
        } else {
            self.color
        }
    }

    /// The same, for output that a program reads.
    pub fn for_programs(&self) -> Self {
        Self {
            format: Some(OutputFormat::Json),
            no_color: true,
            ..self.clone()
        }
    }
}

/// How results are printed: the values of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    Human,
    /// For programs, one document: everything a person can read is in it.
    Json,
    /// For programs, one target a line.
    Jsonl,
    /// Only rows, in aligned columns.
    Table,
    /// Only rows, as comma-separated values.
    Csv,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// In aligned columns.
    Table,
    /// As comma-separated values (RFC 4180).
    Csv,
}

impl OutputFormat {
    /// The format of everything else than rows.
    pub fn format(self) -> Format {
        match self {
            Self::Human | Self::Table | Self::Csv => Format::Human,
            Self::Json => Format::Json,
            Self::Jsonl => Format::Jsonl,
        }
    }
}

/// The minimum level of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[expect(missing_docs, reason = "help would show it")]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Notice,
    #[value(alias = "warning")]
    Warn,
    #[value(alias = "err", alias = "fatal")]
    Error,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "help would show it")]
pub enum ColorWhen {
    Auto,
    Always,
    Never,
}

impl ColorWhen {
    /// Whether to use colour on this stream.
    pub fn choice(self, stream: &impl RawStream) -> ColorChoice {
        match self {
            Self::Auto => AutoStream::choice(stream),
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }
}
