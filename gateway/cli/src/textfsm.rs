//! `devgate textfsm`: parses a text with TextFSM templates, without a device.

use std::path::PathBuf;

use clap::Args;
use devgate_core::columns;
use devgate_core::failure::Failure;
use devgate_devices::{Table, TemplateCollection};
use devgate_engine::project::Format;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use serde_json::Value as Json;

use crate::{resource, rows, templates};

/// Parse a command's output with TextFSM templates
///
/// The template is in a file, or in a folder of templates for platforms and their commands, such as ntc-templates: the
/// folder's file `index` says which template parses which command. Templates mean what they mean in Google's TextFSM.
#[derive(Args, Debug)]
#[command(allow_missing_positional = true)]
#[command(
    after_help = "Examples:\n  devgate textfsm ports.textfsm show.txt\n  devgate session exec -t r1 show ports | \
                  devgate textfsm ports.textfsm -\n  devgate textfsm --templates ntc_templates/templates --platform \
                  cisco_ios --command 'show ip route' show.txt --format json"
)]
pub struct TextFsm {
    /// A file with a template
    #[arg(required_unless_present = "templates", conflicts_with = "templates")]
    template: Option<PathBuf>,
    /// A file with the command's output, or - for stdin
    file: PathBuf,
    /// A folder of templates with an index
    #[arg(long, value_name = "DIR", requires = "platform", requires = "command")]
    templates: Option<PathBuf>,
    /// The platform of the device, as the index has it
    #[arg(long, requires = "templates")]
    platform: Option<String>,
    /// The command whose output it is
    #[arg(long, requires = "templates")]
    command: Option<String>,
}

impl TextFsm {
    /// Runs the command: prints the rows, and returns the exit status.
    ///
    /// # Errors
    /// A file could not be read, or the template or the output is wrong.
    pub fn run(self, printer: &Printer) -> Result<ExitStatus, Failure> {
        let text = resource::read(&self.file)?;
        let table = match (&self.template, &self.templates) {
            (Some(template), _) => Table::parse(template, &self.file.display().to_string(), &text)?,
            (None, folder) => {
                let of = |option: &Option<String>| option.clone().unwrap_or_default();
                let folder = folder.clone().unwrap_or_default();
                let templates = TemplateCollection::read(&templates::with_index(&folder))?;
                templates.parse(&of(&self.platform), &of(&self.command), &text)?
            }
        };
        let rows = table.to_json();
        let objects = rows.iter().filter_map(Json::as_object);
        let cells = || columns::cells(table.names.clone(), objects);
        match (printer.row_format(), printer.format()) {
            (Some(format), _) => rows::print(printer, format, &cells()),
            (None, Format::Jsonl) => rows.iter().for_each(|row| printer.line(row.to_string())),
            (None, _) => printer.document(&rows, || columns::table(&cells())),
        }
        Ok(ExitStatus::Success)
    }
}
