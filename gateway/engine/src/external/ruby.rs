//! Puppet modules in Ruby: what their files show without Ruby, and their own descriptions when these are needed. A
//! program of ours, the host, loads them as described in docs/external.md.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use devgate_core::trust;
use devgate_devices::ResourceType;
use devgate_schemas::{Feature, Hash, TransportSchema, TypeSchema, Value};
use devgate_transports::reading;
use indexmap::IndexMap;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::action::Action;
use super::family_files::FamilyFiles;
use super::family_program::{FamilyProgram, RubyHost};
use super::programs::{LIMIT_OPTIONS, describe_failure, describe_problems, name_of};
use super::resource_type::ExternalType;
use super::results::ProgramFailure;
use super::session::{ExternalAccess, ExternalConnect, ProgramHandle};
use crate::family::Family;
use crate::process::{GRACE, ProcessLimits};

/// A transport in Ruby that has not described itself yet.
#[derive(Clone, Debug)]
pub(crate) struct RubyTransport {
    name: String,
    /// The file of its schema, which has its name.
    file: PathBuf,
    modules: Arc<Modules>,
}

/// The folders in which Ruby searches, and their files.
#[derive(Debug)]
struct Modules {
    libs: Vec<PathBuf>,
    /// The files of all types by their names. They are listed when they are first needed.
    types: OnceLock<IndexMap<String, PathBuf>>,
    /// The host's own folder. It is created when it is first needed.
    host: OnceLock<Result<TempDir, String>>,
}

/// The files of the host.
const HOST: [(&str, &str); 7] = [
    ("start.rb", include_str!("ruby/start.rb")),
    ("host.rb", include_str!("ruby/host.rb")),
    ("plain.rb", include_str!("ruby/plain.rb")),
    ("context.rb", include_str!("ruby/context.rb")),
    ("loaded.rb", include_str!("ruby/loaded.rb")),
    ("modules.rb", include_str!("ruby/modules.rb")),
    ("target.rb", include_str!("ruby/target.rb")),
];

/// The folder of transport schemas in modules.
const SCHEMAS: &str = "puppet/transport/schema";

/// The limits for descriptions. They take a second on an idle processor.
const LIMITS: ProcessLimits = ProcessLimits {
    time: Some(Duration::from_secs(60)),
    stdout: 50 * 1024 * 1024,
    stderr: 64 * 1024,
    grace: GRACE,
    respite: Duration::ZERO,
    drain: Duration::from_secs(1),
};

/// The program that describes the transport, and the types to describe.
struct DescriptionRequest {
    program: FamilyProgram,
    types: Vec<Value>,
    /// Why other types are left out.
    left_out: IndexMap<String, String>,
}

impl RubyTransport {
    /// Returns the transports of a module path, and of a folder like a module's `lib`, which comes first. Of modules
    /// with the same name, the first is used.
    pub(crate) fn all(modulepath: &[PathBuf], libdir: Option<&Path>) -> Vec<Self> {
        let mut modules: IndexMap<String, PathBuf> = IndexMap::new();
        for module in modulepath.iter().flat_map(|root| entries(root)) {
            let lib = module.join("lib");
            if lib.is_dir() {
                modules.entry(name_of(&module)).or_insert(lib);
            }
        }
        let libs = libdir.map(Path::to_owned).into_iter();
        let libs = libs.chain(modules.into_values());
        // A module may change its directory and must still find its files.
        let absolute = |lib: PathBuf| std::path::absolute(&lib).unwrap_or(lib);
        let libs: Vec<PathBuf> = libs.map(absolute).collect();
        let transports = ruby_files(&libs, SCHEMAS);
        let modules = Arc::new(Modules {
            libs,
            types: OnceLock::new(),
            host: OnceLock::new(),
        });
        let transports = transports.into_iter().map(|(name, file)| Self {
            name,
            file,
            modules: Arc::clone(&modules),
        });
        transports.collect()
    }

    /// Returns the transport's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file of the schema.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the names of possible types for its devices.
    pub(crate) fn type_names(&self) -> impl Iterator<Item = &str> {
        let names = self.modules.types().keys();
        names
            .map(String::as_str)
            .filter(|name| self.has_provider(name))
    }

    /// Whether a type has a provider for this transport or for all.
    fn has_provider(&self, type_name: &str) -> bool {
        let [own, common] =
            [&self.name, type_name].map(|name| format!("puppet/provider/{type_name}/{name}.rb"));
        let mut libs = self.modules.libs.iter();
        libs.any(|lib| {
            lib.join(&own).is_file() || (lib.join(&common).is_file() && self.is_served_by(lib))
        })
    }

    /// Whether the general providers in a folder serve the devices of this transport. A module with transports serves
    /// only its own.
    fn is_served_by(&self, lib: &PathBuf) -> bool {
        let own_transports = ruby_files(slice::from_ref(lib), SCHEMAS);
        own_transports.is_empty() || own_transports.contains_key(&self.name)
    }

    /// Loads the description of the transport and of all types.
    ///
    /// # Errors
    /// Fails when there is no Ruby for modules, or when the transport is invalid. Invalid types are left out, because
    /// types are shared by all transports.
    pub(crate) async fn describe(&self) -> Result<Family, String> {
        let own = self.clone();
        // A module path may have many files.
        let request = spawn_blocking(move || own.description_request()).await;
        let request = request.expect("files do not panic")?;
        let types = Value::Array(request.types.clone());
        let input = [("types", types)].into_iter().collect();
        let reply = request
            .program
            .run_once(Action::Schema, input, &LIMITS)
            .await;
        self.family(request, reply.results)
    }

    /// Determines the program that describes the transport, and the types to describe.
    fn description_request(&self) -> Result<DescriptionRequest, String> {
        self.modules.check_trust()?;
        let host = self.modules.host_file().map_err(|problem| {
            format!("the host of Ruby modules has no place of its own: {problem}")
        })?;
        let libs = std::env::join_paths(&self.modules.libs).map_err(|error| error.to_string())?;
        let host_folder = host.parent().map(Path::to_owned).unwrap_or_default();
        let argv = [
            "ruby".into(),
            "--disable-gems".into(),
            host.into_os_string(),
            self.name.clone().into(),
            libs,
        ];
        let names = (0..self.modules.libs.len()).map(|number| format!("lib/{number}"));
        let names: Vec<String> = names.collect();
        let host_folder = ("host".to_owned(), host_folder);
        let libs = names.iter().cloned().zip(self.modules.libs.iter().cloned());
        let files = FamilyFiles::new([host_folder].into_iter().chain(libs).collect());
        let host = RubyHost {
            argv: argv.to_vec(),
            start_file: format!("host/{}", HOST[0].0),
            transport: self.name.clone(),
            libs: names,
        };
        let program = FamilyProgram::of_ruby(&self.file, host, files);
        let mut left_out = IndexMap::new();
        let mut types = Vec::new();
        for (name, file) in self.modules.types() {
            match self.why_left_out(name, file) {
                None => types.push(Value::from(name.as_str())),
                Some(why) => drop(left_out.insert(name.clone(), why)),
            }
        }
        Ok(DescriptionRequest {
            program,
            types,
            left_out,
        })
    }

    /// Creates the family from the answer.
    fn family(
        &self,
        request: DescriptionRequest,
        results: Result<Hash, ProgramFailure>,
    ) -> Result<Family, String> {
        let DescriptionRequest {
            program,
            mut left_out,
            ..
        } = request;
        let mut results = results.map_err(|problem| describe_failure(&program, problem))?;
        let definition = results.remove("transport").unwrap_or(Value::Undef);
        let schema = TransportSchema::register_foreign(&definition);
        let schema = schema.map_err(|problems| describe_problems(&program, &problems))?;
        let handle = ProgramHandle {
            program,
            is_persistent: true,
        };
        let descriptions = match results.remove("types") {
            Some(Value::Hash(descriptions)) => descriptions,
            _ => Hash::new(),
        };
        let (mut types, mut warnings) = (Vec::new(), IndexMap::new());
        for (name, description) in descriptions {
            let name = name.to_string();
            match type_of(&name, description) {
                Ok((schema, warned)) => {
                    let handle = handle.of_type(&name);
                    types.push(Box::new(ExternalType { schema, handle }) as Box<dyn ResourceType>);
                    warnings.insert(name, warned);
                }
                Err(why) => drop(left_out.insert(name, why)),
            }
        }
        let connect = Arc::new(ExternalConnect {
            schema: schema.with(&LIMIT_OPTIONS),
            access: ExternalAccess::Program(handle),
        });
        Ok(Family::of_ruby(connect, types, left_out, warnings))
    }

    /// Returns why a type is left out without a description.
    fn why_left_out(&self, name: &str, file: &Path) -> Option<String> {
        let text = match reading::bytes(file) {
            Ok(text) => text,
            Err(error) => return Some(format!("{}: {error}", file.display())),
        };
        if !text.windows(11).any(|word| word == b"ResourceApi") {
            return Some(format!(
                "{} is a type of Puppet's old kind: devgate manages those of the Resource API \
                 (`Puppet::ResourceApi.register_type`)",
                file.display()
            ));
        }
        (!self.has_provider(name)).then(|| {
            format!(
                "there is neither a provider for `{transport}` (puppet/provider/{name}/{transport}.rb) \
                 nor one for all devices (puppet/provider/{name}/{name}.rb, in its own module or in one \
                 without transports)",
                transport = self.name
            )
        })
    }
}

/// Returns a type as the host describes it, and the gem's warnings.
fn type_of(name: &str, description: Value) -> Result<(TypeSchema, Vec<String>), String> {
    let Value::Hash(mut description) = description else {
        return Err("the host says nothing of it".to_owned());
    };
    if let Some(error) = description.remove("error") {
        return Err(error.as_str().unwrap_or_default().to_owned());
    }
    let definition = description.remove("definition").unwrap_or(Value::Undef);
    match TypeSchema::register_foreign(&definition) {
        Ok((schema, _)) if schema.name() != name => {
            Err(format!("it calls itself `{}`", schema.name()))
        }
        Ok((schema, _)) if !schema.has(Feature::RemoteResource) => Err(
            "it manages hosts, not devices: its definition lacks the feature `remote_resource`"
                .to_owned(),
        ),
        Ok(registered) => Ok(registered),
        Err(problems) => {
            let problems = problems.iter().map(|problem| problem.message.clone());
            Err(problems.collect::<Vec<_>>().join("; "))
        }
    }
}

impl Modules {
    /// Checks whether another user could change the files that Ruby loads, which may be any file in these folders.
    ///
    /// # Errors
    /// Fails when a link leads out of the module path and, for root only, when another user could change a file. For other
    /// users, the latter is a warning.
    fn check_trust(&self) -> Result<(), String> {
        // The module, and the folder of the module path that contains it.
        let folders = self
            .libs
            .iter()
            .flat_map(|lib| lib.ancestors().skip(1).take(2));
        let roots = trust::roots(folders);
        let mut libs = self.libs.iter();
        libs.try_for_each(|lib| trust::check_all(lib, &roots))
    }

    fn types(&self) -> &IndexMap<String, PathBuf> {
        self.types
            .get_or_init(|| ruby_files(&self.libs, "puppet/type"))
    }

    /// Returns the host's main file, in a folder that no other user can enter.
    fn host_file(&self) -> Result<PathBuf, String> {
        let folder = self
            .host
            .get_or_init(|| write_host().map_err(|error| error.to_string()));
        let folder = folder.as_ref().map_err(String::clone)?;
        Ok(folder.path().join(HOST[0].0))
    }
}

fn write_host() -> io::Result<TempDir> {
    let folder = tempfile::Builder::new()
        .prefix("devgate-ruby-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()?;
    for (name, text) in HOST {
        fs::write(folder.path().join(name), text)?;
    }
    Ok(folder)
}

/// Returns the Ruby files in one subfolder of each of these, by their names. The first of a name is used.
fn ruby_files(libs: &[PathBuf], folder: &str) -> IndexMap<String, PathBuf> {
    let mut found = IndexMap::new();
    for file in libs.iter().flat_map(|lib| entries(&lib.join(folder))) {
        let is_ruby = file.extension().is_some_and(|extension| extension == "rb");
        if let (true, Some(name)) = (is_ruby, file.file_stem().and_then(|name| name.to_str())) {
            found.entry(name.to_owned()).or_insert(file);
        }
    }
    found
}

/// Returns the entries of a folder. They are sorted, so that every run is alike.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}
