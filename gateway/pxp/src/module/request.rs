//! Reads the request within limits: stdin may be a terminal, never end, or send endless data.

use std::io::{self, IsTerminal, Read};
use std::thread;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_front::signals::SignalListener;
use devgate_schemas::pxp::{ActionRequest, OutputFiles};
use tokio::sync::oneshot;
use tokio::time::timeout;
use zeroize::Zeroizing;

/// The maximum size of a request in bytes. No message of a pcp-broker is larger.
const MAX_SIZE: u64 = 64 << 20;

/// How long to wait for the end of a request. Callers write it at once.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Why there is no request, and where to report it, if that is known.
pub(super) struct RequestError {
    pub(super) failure: Failure,
    pub(super) output_files: Option<OutputFiles>,
}

/// Reads the request from stdin.
///
/// # Errors
/// It is invalid, does not end, or the process was cancelled.
pub(super) async fn read(listener: &mut SignalListener) -> Result<ActionRequest, RequestError> {
    if io::stdin().is_terminal() {
        return Err(request_error(
            "expected a request on stdin, but stdin is a terminal: send one, `echo '{\"input\": {\"targets\": \
             \"all\"}}' | …`",
        ));
    }
    let (sender, text) = oneshot::channel();
    // A separate thread, because nothing waits for it when the program ends.
    let reader = thread::Builder::new().spawn(move || {
        let mut text = Zeroizing::new(Vec::new());
        let read = io::stdin().take(MAX_SIZE + 1).read_to_end(&mut text);
        let _ = sender.send(read.map(|_| text));
    });
    if let Err(error) = reader {
        return Err(request_error(&format!("cannot read the request: {error}")));
    }
    let text = tokio::select! {
        text = timeout(TIME_LIMIT, text) => text,
        _ = listener.signal() => return Err(request_error("interrupted while the request was read")),
    };
    let text = match text {
        Ok(Ok(Ok(text))) => text,
        Ok(Ok(Err(error))) => {
            return Err(request_error(&format!("cannot read the request: {error}")));
        }
        Ok(Err(_)) => {
            return Err(request_error(
                "cannot read the request: the thread that reads it has failed",
            ));
        }
        Err(_) => {
            let seconds = TIME_LIMIT.as_secs();
            let message = format!("the request on stdin is not complete after {seconds} s");
            return Err(request_error(&message));
        }
    };
    if text.len() as u64 > MAX_SIZE {
        let message = format!("the request on stdin is larger than {MAX_SIZE} bytes");
        return Err(request_error(&message));
    }
    ActionRequest::read(&text).map_err(|invalid| RequestError {
        failure: failure(&invalid.to_string()),
        output_files: invalid.output_files,
    })
}

fn request_error(message: &str) -> RequestError {
    RequestError {
        failure: failure(message),
        output_files: None,
    }
}

fn failure(message: &str) -> Failure {
    Failure::new("devgate/invalid-request", message)
}
