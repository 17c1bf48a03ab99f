//! A family as found in a folder (data, programs, or a module in Ruby), and its description once that is known.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Once};

use devgate_core::trust;
use devgate_devices::UnloadedFamily;
use futures_util::FutureExt;
use tokio::sync::OnceCell;
use tokio::task::unconstrained;

use crate::external::{Programs, RubyTransport, name_of};
use crate::family::Family;

/// A family as found in a folder.
#[derive(Debug)]
pub(super) struct FamilySource {
    /// The folder, for a family of a module.
    folder: Option<PathBuf>,
    declared: Option<UnloadedFamily>,
    code: Option<Code>,
    /// The complete family. Data is read when it is first needed; programs describe themselves when they are
    /// [described](Registry::load_descriptions).
    pub(super) loaded: OnceCell<Result<Family, String>>,
    /// A problem with the family is reported once.
    pub(super) reported: Once,
}

/// The code of a family that describes itself.
#[derive(Debug)]
pub(super) enum Code {
    Programs(Programs),
    Ruby(RubyTransport),
}

/// The result for a family whose programs have not described themselves yet.
static UNDESCRIBED: LazyLock<Result<Family, String>> =
    LazyLock::new(|| Err("the metadata of its programs was not read".to_owned()));

impl FamilySource {
    pub(super) fn new(declared: Option<UnloadedFamily>, code: Option<Code>) -> Self {
        Self {
            folder: None,
            declared,
            code,
            loaded: OnceCell::new(),
            reported: Once::new(),
        }
    }

    /// Reads a family from a folder of a module. Returns its name, too.
    pub(super) fn read(folder: &Path) -> Result<(String, Self), String> {
        let programs = Programs::find(folder).map(Code::Programs);
        if !folder.join("family.yaml").is_file() {
            return Ok((name_of(folder), Self::new(None, programs).in_folder(folder)));
        }
        let declared = UnloadedFamily::in_folder(folder).map_err(|error| error.to_string())?;
        let name = declared.name().to_owned();
        Ok((name, Self::new(Some(declared), programs).in_folder(folder)))
    }

    pub(super) fn in_folder(self, folder: &Path) -> Self {
        let folder = Some(folder.to_owned());
        Self { folder, ..self }
    }

    /// Whether the programs have not described themselves yet.
    pub(super) fn needs_description(&self) -> bool {
        self.code.is_some() && !self.loaded.initialized()
    }

    /// Returns the family as far as it is known. Data is read if necessary.
    pub(super) fn loaded(&self) -> &Result<Family, String> {
        match (self.loaded.get(), &self.code) {
            (Some(loaded), _) => loaded,
            (None, Some(_)) => &UNDESCRIBED,
            (None, None) => {
                // Without `unconstrained`, the runtime may make a task that has done much work yield here, although
                // nothing is pending.
                let read = unconstrained(self.load()).now_or_never();
                read.expect("data is not waited for")
            }
        }
    }

    /// Returns the family once its programs have described themselves.
    pub(super) async fn load(&self) -> &Result<Family, String> {
        self.loaded
            .get_or_init(async || {
                if let Some(folder) = &self.folder {
                    trust::check_all(folder, &[PathBuf::from("/")])?;
                }
                let load = |family: &UnloadedFamily| {
                    let family = family.load().map_err(|error| error.to_string());
                    family.map(Arc::new)
                };
                let declared = self.declared.as_ref().map(load).transpose()?;
                match (&self.code, declared) {
                    (Some(Code::Programs(programs)), declared) => programs.describe(declared).await,
                    (Some(Code::Ruby(transport)), _) => transport.describe().await,
                    (None, Some(declared)) => Ok(Family::from(declared)),
                    (None, None) => unreachable!("a folder without both is no family's"),
                }
            })
            .await
    }

    pub(super) fn type_names(&self) -> Vec<String> {
        let mut names = self
            .declared
            .as_ref()
            .map_or_else(Vec::new, UnloadedFamily::type_names);
        match &self.code {
            None => {}
            Some(Code::Programs(programs)) => {
                names.extend(programs.type_names().map(str::to_owned))
            }
            Some(Code::Ruby(transport)) => names.extend(transport.type_names().map(str::to_owned)),
        }
        names
    }

    pub(super) fn has_type(&self, name: &str) -> bool {
        let declared = self.declared.as_ref();
        declared.is_some_and(|declared| declared.has_type(name))
            || match &self.code {
                None => false,
                Some(Code::Programs(programs)) => {
                    programs.type_names().any(|type_name| type_name == name)
                }
                Some(Code::Ruby(transport)) => {
                    transport.type_names().any(|type_name| type_name == name)
                }
            }
    }
}
