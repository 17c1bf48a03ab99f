//! The command line of the open session, and read-only commands.

use devgate_transports::{CommandLine, Context};

use crate::{Error, Result};

/// The output of a read-only command.
///
/// # Errors
/// Fails as [`CommandLine::exec`] does.
pub(crate) async fn exec(
    ctx: &Context<'_>,
    session: &dyn CommandLine,
    command: &str,
) -> devgate_transports::Result<String> {
    ctx.debug(format!("asks for `{command}`"));
    session.exec(ctx, command).await
}

/// The command line of the open session.
///
/// # Errors
/// Fails when the session has none.
pub(crate) fn session<'a>(ctx: &Context<'a>) -> Result<&'a dyn CommandLine> {
    ctx.command_line().ok_or_else(|| {
        Error::Unsupported("the open session is not one at a command line".to_owned())
    })
}
