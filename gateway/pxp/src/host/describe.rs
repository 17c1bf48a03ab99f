//! Reads the metadata of a module within limits, in every documented way to start it.

use std::path::Path;
use std::time::Duration;

use devgate_core::cancel::CancelToken;
use devgate_engine::process::{self, OutputLimit, ProcessLimits, Program};
use devgate_schemas::Sensitive;
use devgate_schemas::pxp::Metadata;
use devgate_schemas::task::{Exit, Outcome};

/// How long a module may take to print its metadata. pxp-agent waits forever.
const PATIENCE: Duration = Duration::from_secs(30);

/// The maximum size of metadata in bytes.
const LARGEST: usize = 4 << 20;

/// Requests the metadata with `metadata`, as pxp-agent does. If that fails, requests it without an argument, as in the
/// specification.
pub(super) async fn ask(
    file: &Path,
    stop: &CancelToken,
) -> Result<(Metadata, Vec<String>), String> {
    let problem = match told(file, Some("metadata"), stop).await {
        Ok(metadata) => return Ok((metadata, Vec::new())),
        Err(Silence::Answered(problem)) => problem,
        Err(Silence::Mute(problem)) => return Err(problem),
    };
    match told(file, None, stop).await {
        Ok(metadata) => {
            let remark = "it prints its metadata only without an argument: pxp-agent calls it with `metadata`, and \
                          would refuse it";
            Ok((metadata, vec![remark.to_owned()]))
        }
        Err(_) => Err(problem),
    }
}

/// Starts a module with at most one argument. It inherits the locale, as under pxp-agent.
pub(super) fn program(
    file: &Path,
    word: Option<&str>,
    stdin: Option<Sensitive<Vec<u8>>>,
) -> Program {
    let words = std::iter::once(file.into()).chain(word.map(Into::into));
    Program {
        argv: words.collect(),
        environment: Vec::new(),
        stdin,
    }
}

/// Why there is no metadata.
enum Silence {
    /// The module has printed something else.
    Answered(String),
    /// It could not be started, or does not end.
    Mute(String),
}

async fn told(file: &Path, word: Option<&str>, stop: &CancelToken) -> Result<Metadata, Silence> {
    let program = program(file, word, None);
    let limits = ProcessLimits {
        time: Some(PATIENCE),
        stdout: LARGEST,
        ..ProcessLimits::default()
    };
    let excess = OutputLimit::new(LARGEST);
    let outcome = tokio::select! {
        outcome = process::run(&program, &limits, stop, &excess) => outcome,
        // Some modules never stop: they are ended after the limit.
        () = excess.exceeded() => return Err(Silence::Mute(too_long())),
    };
    let outcome = outcome.map_err(|failure| {
        Silence::Mute(match failure {
            process::ProcessFailure::Start(error) => process::start_failure(&error),
            process::ProcessFailure::Ended(ended) if ended.limit.is_some() => format!(
                "it did not print its metadata within {} s, and was ended",
                PATIENCE.as_secs()
            ),
            process::ProcessFailure::Ended(_) => "interrupted".to_owned(),
        })
    })?;
    read(&outcome).map_err(Silence::Answered)
}

fn too_long() -> String {
    format!("its metadata is longer than {LARGEST} bytes")
}

/// Reads the answer of a module. As in pxp-agent, the exit code does not matter, but output on stderr is an error.
fn read(outcome: &Outcome) -> Result<Metadata, String> {
    if !outcome.stderr.bytes.is_empty() {
        let words = outcome.stderr.last_words();
        return Err(format!(
            "it wrote to stderr while it printed its metadata, and pxp-agent refuses such modules: {}",
            words.as_deref().unwrap_or("blank lines")
        ));
    }
    if outcome.stdout.cut {
        return Err(too_long());
    }
    Metadata::read(&outcome.stdout.bytes).map_err(|problems| match outcome.exit {
        Exit::Code(0) => format!("its metadata: {problems}"),
        exit => format!("its metadata: {problems}; {exit}"),
    })
}
