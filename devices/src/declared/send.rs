//! Sends changes to a command line.

use devgate_schemas::{Name, TypeSchema};
use devgate_transports::Context;

use super::cli::{Cli, session};
use super::what::What;
use crate::{Change, Result, line};

impl Cli {
    /// Makes changes. A resource whose lines are refused has failed, and the others go on; nothing
    /// is sent twice.
    ///
    /// # Errors
    /// The loss of the session; what is not told as done has then failed, or is in doubt.
    pub(super) async fn set(
        &self,
        ctx: &Context<'_>,
        schema: &TypeSchema,
        changes: Vec<(Name, Change)>,
    ) -> Result<()> {
        let (mut ready, mut lines) = (Vec::new(), Vec::new());
        for (name, change) in changes {
            match self.lines(schema, &name, &change) {
                Ok(made) => {
                    ready.push((What::of(&change), name));
                    lines.push(made);
                }
                Err(error) => ctx.failed(name.title(), error.to_string()),
            }
        }
        if ctx.noop() {
            return Ok(());
        }
        line::send(ctx, session(ctx)?, &lines, |at, taken| {
            let (what, name) = &ready[at];
            match taken {
                Ok(()) => what.tell(ctx, name.title()),
                Err(message) => ctx.failed(name.title(), message),
            }
        })
        .await
    }
}
