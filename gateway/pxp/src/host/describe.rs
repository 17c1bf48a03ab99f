//! Reads the metadata of a module within limits, in every documented way to start it.

use std::path::Path;
use std::time::Duration;

use devgate_core::cancel::CancelToken;
use devgate_engine::process::{self, OutputLimit, ProcessLimits, Program};
use devgate_schemas::Sensitive;
use devgate_schemas::pxp::Metadata;
use devgate_schemas::task::{Exit, Outcome};

/// How long a module may take to print its metadata. pxp-agent waits forever.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The maximum size of metadata in bytes.
const MAX_SIZE: usize = 4 << 20;

/// Requests the metadata with `metadata`, as pxp-agent does. If that fails, requests it without an argument, as in the
/// specification.
pub(super) async fn metadata(
    file: &Path,
    stop: &CancelToken,
) -> Result<(Metadata, Vec<String>), String> {
    let problem = match request(file, Some("metadata"), stop).await {
        Ok(metadata) => return Ok((metadata, Vec::new())),
        Err(MetadataError::Invalid(problem)) => problem,
        Err(MetadataError::NoAnswer(problem)) => return Err(problem),
    };
    match request(file, None, stop).await {
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
    argument: Option<&str>,
    stdin: Option<Sensitive<Vec<u8>>>,
) -> Program {
    let words = std::iter::once(file.into()).chain(argument.map(Into::into));
    Program {
        argv: words.collect(),
        environment: Vec::new(),
        stdin,
    }
}

/// Why there is no metadata.
enum MetadataError {
    /// The module has printed something else.
    Invalid(String),
    /// It could not be started, or does not end.
    NoAnswer(String),
}

async fn request(
    file: &Path,
    argument: Option<&str>,
    stop: &CancelToken,
) -> Result<Metadata, MetadataError> {
    let program = program(file, argument, None);
    let limits = ProcessLimits {
        time: Some(TIME_LIMIT),
        stdout: MAX_SIZE,
        ..ProcessLimits::default()
    };
    let excess = OutputLimit::new(MAX_SIZE);
    let outcome = tokio::select! {
        outcome = process::run(&program, &limits, stop, &excess) => outcome,
        // Some modules never stop: they are ended after the limit.
        () = excess.exceeded() => return Err(MetadataError::NoAnswer(too_long())),
    };
    let outcome = outcome.map_err(|failure| {
        MetadataError::NoAnswer(match failure {
            process::ProcessFailure::Start(error) => process::start_failure(&error),
            process::ProcessFailure::Ended(ended) if ended.limit.is_some() => format!(
                "it did not print its metadata within {} s, and was ended",
                TIME_LIMIT.as_secs()
            ),
            process::ProcessFailure::Ended(_) => "interrupted".to_owned(),
        })
    })?;
    read(&outcome).map_err(MetadataError::Invalid)
}

fn too_long() -> String {
    format!("its metadata is longer than {MAX_SIZE} bytes")
}

/// Reads the answer of a module. As in pxp-agent, the exit code does not matter, but output on stderr is an error.
fn read(outcome: &Outcome) -> Result<Metadata, String> {
    if !outcome.stderr.bytes.is_empty() {
        let line = outcome.stderr.last_words();
        return Err(format!(
            "it wrote to stderr while it printed its metadata, and pxp-agent refuses such modules: {}",
            line.as_deref().unwrap_or("blank lines")
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
