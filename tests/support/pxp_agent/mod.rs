//! pxp-agent's side of external modules, according to its code (1.15): which modules it loads, how it calls
//! them, and how it reads their output. It replaces the agent in the tests of devgate as a module, and
//! shares no code with devgate's own hosting of modules.

mod call;
mod watch;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

pub(crate) use call::{Response, RunningAction};

/// A running agent: its modules and its transactions.
pub(crate) struct Agent {
    modules: BTreeMap<String, Module>,
    /// The modules that it could not load, and its error messages.
    pub(crate) failed: BTreeMap<String, String>,
    spool: PathBuf,
}

struct Module {
    path: PathBuf,
    configuration: Value,
    actions: BTreeMap<String, Action>,
}

struct Action {
    input: Validator,
    results: Validator,
}

impl Agent {
    /// Starts the agent. Every file of the folder without an extension is a module with the name of the
    /// file.
    pub(crate) fn start(modules: &Path, configuration: &Path, spool: &Path) -> Self {
        let mut agent = Self {
            modules: BTreeMap::new(),
            failed: BTreeMap::new(),
            spool: spool.to_owned(),
        };
        for entry in fs::read_dir(modules)
            .expect("the modules are in a folder")
            .flatten()
        {
            // A link stands for the module that it leads to, under that module's name.
            let path = fs::canonicalize(entry.path()).expect("no link leads nowhere");
            if path.is_dir() || path.extension().is_some() {
                continue;
            }
            let name = path.file_stem().and_then(OsStr::to_str);
            let name = name.expect("a name is text").to_owned();
            let file = configuration.join(format!("{name}.conf"));
            // A file that is not JSON means null, and a missing file means no configuration.
            let configuration = fs::read(file)
                .ok()
                .map(|text| serde_json::from_slice(&text).unwrap_or(Value::Null));
            match Module::load(path, &name, configuration) {
                Ok(module) => agent.modules.insert(name, module).map(|_| ()),
                Err(problem) => agent.failed.insert(name, problem).map(|_| ()),
            };
        }
        agent
    }

    /// Returns the names of the modules that it has loaded.
    pub(crate) fn modules(&self) -> Vec<&str> {
        self.modules.keys().map(String::as_str).collect()
    }

    /// Returns the names of a module's actions.
    pub(crate) fn actions(&self, module: &str) -> Vec<&str> {
        self.modules[module]
            .actions
            .keys()
            .map(String::as_str)
            .collect()
    }

    /// Sends a blocking request: the module answers on its streams.
    pub(crate) fn run(
        &self,
        module: &str,
        action: &str,
        input: &Value,
    ) -> Result<Response, String> {
        let (module, checked) = self.check(module, action, input)?;
        let request = module.request(input);
        Ok(call::blocking(
            &module.path,
            action,
            &request,
            &checked.results,
        ))
    }

    /// Sends a non-blocking request: the module answers in the files of the transaction.
    pub(crate) fn begin(
        &self,
        module: &str,
        action: &str,
        input: &Value,
        transaction: &str,
    ) -> Result<RunningAction<'_>, String> {
        let (module, checked) = self.check(module, action, input)?;
        let request = module.request(input);
        let dir = self.spool.join(transaction);
        Ok(RunningAction::start(
            &module.path,
            action,
            request,
            &dir,
            &checked.results,
        ))
    }

    /// Sends a non-blocking request, and waits for its end.
    pub(crate) fn run_in_files(
        &self,
        module: &str,
        action: &str,
        input: &Value,
        transaction: &str,
    ) -> Result<Response, String> {
        self.begin(module, action, input, transaction)?.finish()
    }

    fn check(&self, name: &str, action: &str, input: &Value) -> Result<(&Module, &Action), String> {
        let module = self.modules.get(name);
        let module = module.ok_or_else(|| format!("unknown module: {name}"))?;
        let found = module.actions.get(action);
        let found =
            found.ok_or_else(|| format!("unknown action '{action}' for module '{name}'"))?;
        if found.input.is_valid(input) {
            Ok((module, found))
        } else {
            Err(format!("invalid input for '{name} {action}'"))
        }
    }
}

impl Module {
    fn load(path: PathBuf, name: &str, configuration: Option<Value>) -> Result<Self, String> {
        let output = command(&path, "metadata").stdin(Stdio::null()).output();
        let output = output.map_err(|error| error.to_string())?;
        // The exit code does not matter; a single byte on stderr is an error.
        if !output.stderr.is_empty() {
            return Err("failed to load external module metadata".to_owned());
        }
        let metadata: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("metadata is not in a valid JSON format: {error}"))?;
        schema(&metadata_schema())
            .expect("it is a schema")
            .validate(&metadata)
            .map_err(|error| format!("metadata validation failure: {error}"))?;
        if let Some(expected) = metadata.get("configuration") {
            let expected = schema(expected)
                .map_err(|_| format!("invalid configuration schema of module {name}"))?;
            if configuration
                .as_ref()
                .is_some_and(|value| !expected.is_valid(value))
            {
                return Err(format!("Failed to configure {}", path.display()));
            }
        }
        let mut actions = BTreeMap::new();
        for action in metadata["actions"].as_array().expect("it was checked") {
            let action_name = action["name"].as_str().expect("it was checked");
            let part = |key: &str| {
                schema(&action[key])
                    .map_err(|_| format!("invalid schemas of '{name} {action_name}'"))
            };
            let action = Action {
                input: part("input")?,
                results: part("results")?,
            };
            actions.insert(action_name.to_owned(), action);
        }
        Ok(Self {
            path,
            actions,
            configuration: configuration.unwrap_or(Value::Null),
        })
    }

    /// Returns the request on stdin, without files. An empty configuration is left out.
    fn request(&self, input: &Value) -> Value {
        let mut request = json!({ "input": input });
        let empty = [Value::Null, json!({}), json!([])];
        if !empty.contains(&self.configuration) {
            request["configuration"] = self.configuration.clone();
        }
        request
    }
}

/// Returns the schema by which the agent's code checks metadata. It differs from the documented schema.
fn metadata_schema() -> Value {
    let object = json!({ "type": "object" });
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": {
            "description": text,
            "configuration": object,
            "actions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "description": text, "name": text, "input": object, "results": object },
                    "required": ["name", "input", "results"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["description", "actions"],
        "additionalProperties": false,
    })
}

/// The agent's library supports Drafts 4 and 6, whatever the schema names, and no references.
fn schema(schema: &Value) -> Result<Validator, String> {
    if schema.to_string().contains("\"$ref\":\"") {
        return Err("Support for JSON References not enabled.".to_owned());
    }
    let mut plain = schema.clone();
    if let Some(schema) = plain.as_object_mut() {
        schema.remove("$schema");
    }
    let build = |draft| jsonschema::options().with_draft(draft).build(&plain);
    build(Draft::Draft4)
        .or_else(|_| build(Draft::Draft6))
        .map_err(|error| error.to_string())
}

/// Returns a module's process: one argument, the agent's folder, and a minimal environment.
#[expect(
    clippy::disallowed_methods,
    reason = "the stand-in starts modules itself"
)]
fn command(path: &Path, argument: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(path);
    command
        .arg(argument)
        .current_dir("/")
        .process_group(0)
        .env_clear()
        .env(
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}
