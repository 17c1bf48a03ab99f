//! Explains what a run would do on a target, without running anything and without connecting.

use std::path::Path;

use devgate_core::failure::Failure;
use devgate_core::results::TargetResult;
use devgate_schemas::task::InputMethod;
use devgate_schemas::{Hash, Value};
use devgate_transports::Mode;
use serde_json::{Map, Value as Json, json};

use super::{TaskRun, limits, location, unless_stopping};
use crate::job::TargetJob;
use crate::process::ProcessLimits;
use crate::proxies::{HostPreview, Way};
use crate::session::Sessions;
use crate::tasks::{Implementation, Invocation};

/// The values of `_target` that are shown without a schema. Other values may be secrets.
const PLAIN: [&str; 8] = [
    "name",
    "uri",
    "protocol",
    "user",
    "host",
    "port",
    "remote-transport",
    "run-on",
];

impl TaskRun<'_, '_> {
    /// Explains what would run on the job's target, and how.
    ///
    /// # Errors
    /// Fails when the task would not run.
    pub(crate) async fn explain(
        &self,
        job: &TargetJob<'_>,
        sessions: Sessions<'_, '_>,
    ) -> Result<TargetResult, Failure> {
        job.hide(self.parameters.secrets());
        let target = job.target;
        let (target_input, budget) = self.target_input(job)?;
        self.admit(job)?;
        let pool = unless_stopping(job, self.hosts.pool(target)).await??;
        let previews = pool.previews();
        let Some(first) = previews.iter().find(|preview| preview.fault.is_none()) else {
            let mut faults = previews.into_iter().filter_map(|preview| {
                let why = preview.fault?;
                let msg = format!("{}: {why}", preview.name);
                Some(Failure { msg, ..why })
            });
            let fault = faults.next();
            return Err(fault.unwrap_or_else(|| Failure::new("devgate/no-proxy", "no host")));
        };
        let mut features = first.features.clone();
        features.extend(target.features.iter().cloned());
        let location = location(job, &first.name, &features);
        let mut invocation =
            Invocation::new(self.task, location, self.parameters.clone(), self.mode)?;
        let is_remote = target_input.is_some();
        let mut offers_session = false;
        if let Some((info, spec)) = target_input {
            let shared = spec.is_some();
            invocation = invocation.with_target(if shared { info } else { masked_info(info) });
            // Another user of this node does not get our sessions.
            offers_session = shared && (!first.is_local || first.run_as.is_none());
        }
        let implementation = invocation.implementation();
        let installdir = implementation.layout.has_installdir();
        let installdir = installdir.then_some(Path::new("PRIVATE_DIRECTORY"));
        let input = invocation.input(installdir)?;
        let variables: Vec<&String> = input.environment.iter().map(|(name, _)| name).collect();
        let mut environment = json!(variables);
        if offers_session && let Json::Array(names) = &mut environment {
            names.push(crate::tasks::SESSION_VARIABLE.into());
        }
        // Without a known transport, only the task knows how it reaches the device.
        let way = sessions.way(job).await.ok();
        let limits = limits([&first.budget, &budget], self.timeout);
        let passed_over: Map<String, Json> = self
            .task
            .tried_implementations(location)
            .into_iter()
            .filter_map(|(file, why)| Some((file, why?.into())))
            .collect();
        let value = json!({
            "implementation": implementation_json(implementation),
            "passed_over": passed_over,
            "features": features,
            "features_assumed": !first.is_local,
            "hosts": previews.iter().map(host_json).collect::<Vec<_>>(),
            "way": way.as_ref().map(Way::to_json),
            "session": is_remote.then_some(offers_session),
            "layout": layout_json(implementation),
            "stdin": input.stdin.is_some(),
            "environment": environment,
            "input": Value::Hash(invocation.with_metaparameters(installdir)).to_json(),
            "noop": self.mode == Mode::Noop,
            "limits": limits_json(&limits),
        });
        let text = text(&value, way.as_ref());
        Ok(TargetResult::success(value).with_text(text))
    }
}

/// Masks the values in connection info without a schema, because they may be secrets.
fn masked_info(info: Hash) -> Hash {
    info.into_iter()
        .map(|(key, value)| {
            let plain = PLAIN.contains(&key.to_string().as_str());
            let value = if plain { value } else { value.into_sensitive() };
            (key, value)
        })
        .collect()
}

fn implementation_json(implementation: &Implementation) -> Json {
    let file = implementation.layout.executable();
    json!({
        "name": implementation.file_name(),
        "path": file.path.display().to_string(),
        "requirements": implementation.requirements,
        "input_method": match implementation.input_method {
            InputMethod::Stdin => "stdin",
            InputMethod::Environment => "environment",
            InputMethod::Both => "both",
            InputMethod::Powershell => "powershell",
        },
        "remote": implementation.remote,
    })
}

fn host_json(host: &HostPreview) -> Json {
    json!({
        "name": host.name,
        "address": host.address,
        "run_as": host.run_as,
        "tmpdir": host.tmpdir,
        "cleanup": host.cleanup,
        "interpreters": host.interpreters,
        "unusable": host.fault.as_ref().map(|fault| fault.msg.as_str()),
    })
}

fn layout_json(implementation: &Implementation) -> Json {
    let layout = &implementation.layout;
    let files: Vec<&str> = layout
        .files()
        .iter()
        .map(|file| file.name.as_str())
        .collect();
    json!({ "installdir": layout.has_installdir(), "files": files })
}

fn limits_json(limits: &ProcessLimits) -> Json {
    json!({
        "seconds": limits.time.map(|time| time.as_secs_f64()),
        "stdout_bytes": limits.stdout,
    })
}

/// Draws the way to the target, and says whether the task gets a session that goes this way.
fn way_lines(way: &Way, session: Option<bool>) -> Vec<String> {
    let proxies = way.hops().filter(|hop| hop.role == "proxy").count();
    let mut lines = vec!["way:         this node".to_owned()];
    if proxies > 1 {
        lines.push("             -> one of:".to_owned());
    }
    for hop in way.hops() {
        let arrow = match hop.proxy {
            Some(_) if proxies > 1 => "  ",
            _ => "->",
        };
        lines.push(format!("             {arrow} {hop}"));
    }
    if let Some(has_session) = session {
        let session = if has_session { "goes this way" } else { "none" };
        lines.push(format!("session:     {session}"));
    }
    lines
}

/// Formats the explanation for people: what would run, where, and with which input.
fn text(value: &Json, way: Option<&Way>) -> String {
    let field = |pointer: &str| value.pointer(pointer).unwrap_or(&Json::Null);
    let words = |json: &Json| -> String {
        let all = json.as_array().into_iter().flatten();
        let all: Vec<String> = all.map(plain).collect();
        if all.is_empty() {
            "none".to_owned()
        } else {
            all.join(", ")
        }
    };
    let required = field("/implementation/requirements");
    let requires = match required.as_array().is_some_and(|all| !all.is_empty()) {
        true => format!(" (requires {})", words(required)),
        false => String::new(),
    };
    let path = plain(field("/implementation/path"));
    let mut lines = vec![format!("runs:        {path}{requires}")];
    for (file, why) in field("/passed_over").as_object().into_iter().flatten() {
        lines.push(format!("skipped:     {file}: {}", plain(why)));
    }
    for host in field("/hosts").as_array().into_iter().flatten() {
        let mut line = format!(
            "on:          {} ({})",
            plain(&host["name"]),
            plain(&host["address"])
        );
        for (key, word) in [
            ("run_as", "as"),
            ("tmpdir", "below"),
            ("unusable", "cannot be used:"),
        ] {
            if !host[key].is_null() {
                line.push_str(&format!(", {word} {}", plain(&host[key])));
            }
        }
        lines.push(line);
    }
    lines.extend(way.map_or_else(Vec::new, |way| way_lines(way, value["session"].as_bool())));
    let assumed = if value["features_assumed"] == true {
        " (more may be found when it is reached)"
    } else {
        ""
    };
    lines.push(format!(
        "features:    {}{assumed}",
        words(field("/features"))
    ));
    let directory = if value["layout"]["installdir"] == true {
        "_installdir"
    } else {
        "a private directory"
    };
    lines.push(format!(
        "files:       {} in {directory}",
        words(field("/layout/files"))
    ));
    let stdin = if value["stdin"] == true {
        "stdin"
    } else {
        "not stdin"
    };
    lines.push(format!(
        "input:       {} ({stdin}; variables: {})",
        plain(field("/implementation/input_method")),
        words(field("/environment"))
    ));
    let time = match field("/limits/seconds") {
        Json::Null => "no limit of time".to_owned(),
        seconds => format!("{seconds} s"),
    };
    lines.push(format!(
        "limits:      {time}, {} bytes of stdout",
        field("/limits/stdout_bytes")
    ));
    let input = serde_json::to_string_pretty(field("/input")).expect("it has text keys");
    lines.push(format!("reads:       {input}"));
    lines.join("\n")
}

fn plain(json: &Json) -> String {
    json.as_str()
        .map_or_else(|| json.to_string(), str::to_owned)
}
