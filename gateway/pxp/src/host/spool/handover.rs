//! What who attends an action is told through a pipe, and nowhere else: the module's request, and which texts of
//! it are secret.

use std::io::{self, Read};
use std::time::Duration;

use devgate_engine::process::Detached;
use devgate_schemas::{Mask, Sensitive, Value};
use serde_json::Value as Json;

use crate::host::Call;
use crate::host::spool::transaction::Transaction;

/// What is handed over with an action.
pub(crate) struct Handover {
    /// What the module is given on stdin.
    pub(super) request: Sensitive<Vec<u8>>,
    /// What must not be seen in what it writes.
    pub(super) mask: Mask,
}

impl Transaction {
    /// Hands the action over: two lines of JSON. Gives the line that is answered.
    ///
    /// # Errors
    /// There is no answer.
    pub(super) async fn hand_over(
        &self,
        call: &Call,
        to: Detached,
        retry_budget: Duration,
    ) -> io::Result<String> {
        let secrets: Json = call.secrets().iter().map(Value::to_json).collect();
        let secrets = Sensitive::new(secrets.to_string().into_bytes());
        let request = call.request(Some(self.output_files())).to_stdin();
        to.ask(&[&secrets, &request], retry_budget).await
    }
}

impl Handover {
    /// Reads what is handed over.
    ///
    /// # Errors
    /// It has not come whole: then nothing may be started.
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
    fn what_has_not_come_whole_is_refused() {
        let whole = "[\"canary\"]\n{\"input\": {}}\n";
        let read = Handover::read(whole.as_bytes()).expect("it is whole");
        assert_eq!(read.request, Sensitive::new(b"{\"input\": {}}".to_vec()));
        assert!(!read.mask.text("a canary").contains("canary"));
        for length in 0..whole.len() {
            assert!(
                Handover::read(&whole.as_bytes()[..length]).is_err(),
                "{length}"
            );
        }
    }
}
