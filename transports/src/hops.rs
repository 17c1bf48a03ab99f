//! The way to a target, hop by hop, as its settings describe it. Nothing is sent.

use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::info::Hop;
use crate::ssh::settings::Settings;
use crate::{Context, Result, info, tcp, telnet};

/// Returns the hops of a session with this connection info: jump hosts, then the target.
///
/// # Errors
/// Fails with [`Error::Setting`](crate::Error::Setting) for a problem that no schema can detect.
pub fn hops(
    ctx: &Context<'_>,
    schema: &TransportSchema,
    info: &ConnectionInfo,
) -> Result<Vec<Hop>> {
    if info.text("protocol") == Some("telnet") {
        let settings = telnet::Settings::read(ctx, info)?;
        let jumps = settings
            .via
            .as_deref()
            .map_or_else(Vec::new, Settings::hops);
        let target = Hop {
            peer: settings.peer(),
            user: Some(settings.user),
            trust: "not checked: telnet".to_owned(),
        };
        return Ok(jumps.into_iter().chain([target]).collect());
    }
    if schema.connection_info().contains_key("proxyjump") {
        return Ok(Settings::read(ctx, info)?.hops());
    }
    let keys = schema.connection_info();
    if !keys.contains_key("host") && !keys.contains_key("socket") {
        // A program of a module finds its target by other means.
        return Ok(vec![Hop {
            peer: ctx.target().to_owned(),
            user: info.text("user").map(str::to_owned),
            trust: "by its program".to_owned(),
        }]);
    }
    let peer = match (info.text("socket"), info::port(info)?) {
        (Some(socket), _) => socket.to_owned(),
        (None, Some(port)) => tcp::peer(&info::host(info)?, port),
        (None, None) => info::host(info)?,
    };
    let trust = match (info.boolean("ssl_verify"), info.text("protocol")) {
        (None, _) => "by its credentials alone",
        (_, Some("http" | "tcp" | "unix")) => "not checked: no TLS",
        (Some(true), _) => "certificate",
        (Some(false), _) => "not checked: `ssl_verify: false`",
    };
    Ok(vec![Hop {
        peer,
        user: info.text("user").map(str::to_owned),
        trust: trust.to_owned(),
    }])
}
