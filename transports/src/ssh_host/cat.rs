//! Uploads to hosts without SFTP: each file is the standard input of a `cat`.

use devgate_schemas::task::CapturedOutput;
use futures_util::stream::{FuturesUnordered, StreamExt};

use super::exec::{Exec, Output};
use super::put::Upload;
use super::{SshHost, quoted};
use crate::output::{Exit, Piece};
use crate::{Error, Result};

/// The maximum number of parallel uploads. Each takes one of the connection's sessions.
const SIDE_BY_SIDE: usize = 4;

/// The maximum length of an error message from the program.
const COMPLAINT: usize = 1024;

/// Creates the folder and the file. The exit code shows whether the file is complete.
const SCRIPT: &str = r#"umask 077 && mkdir -p -- "$1" && cat >"$2" && chmod "$3" "$2""#;

/// Uploads files.
///
/// # Errors
/// Fails as [`SshHost::put`] does.
pub(super) async fn put(host: &SshHost, files: &[Upload]) -> Result<()> {
    let mut waiting: Vec<&Upload> = files.iter().rev().collect();
    let mut running = FuturesUnordered::new();
    let mut room = SIDE_BY_SIDE;
    loop {
        while running.len() < room
            && let Some(file) = waiting.pop()
        {
            running.push(async move { (file, put_one(host, file).await) });
        }
        match running.next().await {
            None => return Ok(()),
            // Other programs use the connection, too. Continue with the available sessions.
            Some((file, Err(Error::NoMoreSessions { .. }))) if !running.is_empty() => {
                room = running.len();
                waiting.push(file);
            }
            Some((_, result)) => result?,
        }
    }
}

async fn put_one(host: &SshHost, file: &Upload) -> Result<()> {
    let failed = |problem: String| Error::Upload {
        peer: host.peer().to_owned(),
        path: file.to.clone(),
        problem,
    };
    let mut source = file
        .from
        .open()
        .await
        .map_err(|error| failed(error.to_string()))?;
    let folder = file.folders().pop().unwrap_or(".");
    // With its folder in front, a file name cannot be taken for an option.
    let path = if file.to.contains('/') {
        file.to.clone()
    } else {
        format!("./{}", file.to)
    };
    let command = format!(
        "sh -c {} sh {} {} {:o}",
        quoted(SCRIPT),
        quoted(folder),
        quoted(&path),
        file.mode
    );
    let Exec {
        mut stdin,
        mut output,
    } = host.exec(&command).await?;
    let sending = async move {
        loop {
            match source.chunk().await {
                Ok(bytes) if bytes.is_empty() => return Ok(stdin),
                // The output shows why the input is no longer read.
                Ok(bytes) => match stdin.write_all(bytes).await {
                    Ok(()) => {}
                    Err(_) => return Ok(stdin),
                },
                Err(error) => return Err(error),
            }
        }
    };
    let (complaint, exit) = {
        let ending = ended(&mut output);
        tokio::pin!(ending);
        tokio::select! {
            biased;
            ended = &mut ending => ended?,
            sent = sending => {
                // Dropping the input ends it: the file is complete.
                drop(sent.map_err(|error| failed(error.to_string()))?);
                ending.await?
            }
        }
    };
    match exit {
        Exit::Code(0) => Ok(()),
        Exit::Code(code) => Err(failed(format!("exit code {code}: {}", complaint.trim()))),
        Exit::Signal(name) => Err(failed(format!("it was ended by SIG{name}"))),
        Exit::Unsaid => Err(failed("the host does not say whether it worked".to_owned())),
    }
}

/// Returns the program's error output, and how it ended.
async fn ended(output: &mut Output) -> Result<(String, Exit)> {
    let mut complaint = CapturedOutput::default();
    loop {
        match output.next().await? {
            Piece::Stdout(bytes) | Piece::Stderr(bytes) => {
                complaint.keep(&bytes, COMPLAINT);
            }
            Piece::Ended(_) => {}
            Piece::Exit(exit) => {
                return Ok((complaint.text(), exit));
            }
        }
    }
}
