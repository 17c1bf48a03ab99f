//! The handover to the supervisor of an action, through a pipe only: the request of the module, and its secret texts.

use std::io::{self, Read};
use std::time::Duration;

use devgate_engine::process::DetachedProgram;
use devgate_schemas::{Mask, Sensitive, Value};
use serde_json::Value as Json;

use crate::host::Call;
use crate::host::spool::transaction::Transaction;

/// The data of the handover.
pub(crate) struct Handover {
    /// The request on the module's stdin.
    pub(super) request: Sensitive<Vec<u8>>,
    /// The secrets to mask in its output.
    pub(super) mask: Mask,
}

impl Transaction {
    /// Writes the handover: two lines of JSON. Returns the answer line.
    ///
    /// # Errors
    /// There was no answer.
    pub(super) async fn hand_over(
        &self,
        call: &Call,
        to: DetachedProgram,
        time_limit: Duration,
    ) -> io::Result<String> {
        let secrets: Json = call.secrets().iter().map(Value::to_json).collect();
        let secrets = Sensitive::new(secrets.to_string().into_bytes());
        let request = call.request(Some(self.output_files())).to_stdin();
        to.request(&[&secrets, &request], time_limit).await
    }
}

impl Handover {
    /// Reads the handover.
    ///
    /// # Errors
    /// It is incomplete. Nothing may be started then.
    pub(crate) fn read(mut from: impl Read) -> io::Result<Self> {
        let mut text = Vec::new();
        from.read_to_end(&mut text)?;
        let mut lines = text.split(|byte| *byte == b'\n');
        let (Some(secrets), Some(request), Some([]), None) =
            (lines.next(), lines.next(), lines.next(), lines.next())
        else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let secrets: Vec<Json> = serde_json::from_slice(secrets)?;
        let secrets: Vec<Value> = secrets.into_iter().map(Value::from).collect();
        Ok(Self {
            request: Sensitive::new(request.to_vec()),
            mask: Mask::new(&secrets),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_handover_is_refused() {
        let complete = "[\"canary\"]\n{\"input\": {}}\n";
        let read = Handover::read(complete.as_bytes()).expect("it is whole");
        assert_eq!(read.request, Sensitive::new(b"{\"input\": {}}".to_vec()));
        assert!(!read.mask.text("a canary").contains("canary"));
        for length in 0..complete.len() {
            assert!(
                Handover::read(&complete.as_bytes()[..length]).is_err(),
                "{length}"
            );
        }
    }
}
