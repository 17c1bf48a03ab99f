//! Parsing outputs: rows by TextFSM, with a collection of templates, or as the target's family reads the command.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use devgate_core::failure::Failure;
use devgate_core::lock::locked;
use devgate_devices::{CommandTemplates, Error, Family, Table, TemplateCollection};
use devgate_schemas::did_you_mean;

/// How outputs are parsed.
#[derive(Debug)]
pub struct Parse {
    templates: Option<TemplateCollection>,
    searched: Vec<PathBuf>,
    platform: Option<String>,
    /// All targets share what was found.
    known: Mutex<Known>,
}

/// The templates of a platform and a command.
#[derive(Debug, Default)]
struct Known(HashMap<[String; 2], Result<Arc<CommandTemplates>, Failure>>);

/// What parses the outputs of one command.
#[derive(Debug)]
pub(super) enum Parser<'f> {
    Templates(Arc<CommandTemplates>),
    Family(&'f Family),
}

/// The kind of failure if nothing parses a command.
const NO_TEMPLATE: &str = "devgate/no-template";

impl Parse {
    /// Parses with a collection of templates, if one was found in the searched folders. The platform in it is that of each
    /// target's family, unless one is given for all.
    pub fn new(
        templates: Option<TemplateCollection>,
        searched: Vec<PathBuf>,
        platform: Option<String>,
    ) -> Self {
        Self {
            templates,
            searched,
            platform,
            known: Mutex::default(),
        }
    }

    /// Finds what parses the outputs of a command on targets of a family.
    ///
    /// # Errors
    /// Fails when nothing does, with the places where templates were looked for, and when a template cannot be read.
    pub(super) fn parser<'f>(
        &self,
        family: Option<&'f Family>,
        command: &str,
    ) -> Result<Parser<'f>, Failure> {
        // Whoever names a platform wants its templates, and not what the family reads.
        let family = family.filter(|_| self.platform.is_none());
        let failure = match self.templates(family, command) {
            Ok(templates) => return Ok(Parser::Templates(templates)),
            Err(failure) => failure,
        };
        let family = family
            .filter(|family| failure.kind == NO_TEMPLATE && family.table(command, "").is_some());
        family.map(Parser::Family).ok_or(failure)
    }

    /// The templates of the collection.
    fn templates(
        &self,
        family: Option<&Family>,
        command: &str,
    ) -> Result<Arc<CommandTemplates>, Failure> {
        let no_template = |why: String| {
            let message =
                format!("nothing was sent, because no template parses `{command}`: {why}");
            Failure::new(NO_TEMPLATE, message)
        };
        let own = family.map(|family| family.unanswered(|_| None));
        let own = own.unwrap_or_default();
        let hint = did_you_mean(command, own.iter().map(|one| one.query.as_str()));
        let declared = family.and_then(Family::textfsm_platform);
        let Some(platform) = self.platform.as_deref().or(declared) else {
            let why = match family {
                Some(family) => format!("{} does not read it, and has no", family.file()),
                None => "the target has no family, which would have a".to_owned(),
            };
            return Err(no_template(format!(
                "{why} `textfsm_platform`; name a platform of ntc-templates with --platform{hint}"
            )));
        };
        let Some(collection) = &self.templates else {
            let places = self.searched.iter();
            let places: Vec<String> = places.map(|path| path.display().to_string()).collect();
            let why = family.map_or("", |_| "the family does not read this command, and ");
            return Err(no_template(format!(
                "{why}ntc-templates is not installed in {}. Install it with `pip install ntc_templates`, or name a \
                 folder of templates with an index: --templates DIR, the variable \
                 NTC_TEMPLATES_DIR, or `textfsm-templates` in bolt-project.yaml{hint}",
                places.join(", ")
            )));
        };
        let mut known = locked(&self.known);
        let found = known.0.entry([platform, command].map(str::to_owned));
        let found = found.or_insert_with(|| match collection.templates(platform, command) {
            Ok(templates) => Ok(Arc::new(templates)),
            Err(Error::Unsupported(why)) => Err(no_template(why)),
            Err(error) => Err(error.into()),
        });
        found.clone()
    }
}

impl Parser<'_> {
    /// The name of the templates, or of the family's file.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Templates(templates) => templates.names().to_owned(),
            Self::Family(family) => family.file(),
        }
    }

    /// Parses an output of the command.
    ///
    /// # Errors
    /// Fails when a template is invalid, or refuses the output.
    pub(super) fn parse(&self, command: &str, output: &str) -> Result<Table, Failure> {
        let table = match self {
            Self::Templates(templates) => templates.parse(command, output),
            Self::Family(family) => family
                .table(command, output)
                .unwrap_or_else(|| Ok(Table::default())),
        };
        table.map_err(|error| {
            let message = format!("{}: {error}", self.name());
            Failure::new("devgate/output-not-parsed", message)
        })
    }
}
