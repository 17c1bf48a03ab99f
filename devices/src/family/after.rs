//! The request after all changes of a run, which saves or activates them.

use devgate_schemas::Hash;
use devgate_transports::{Context, DataRequest};

use crate::body::Body;
use crate::file_node::{FileNode, Problems};
use crate::source::ProtocolKind;
use crate::template::{Scope, Secrets};
use crate::{Error, Result};

/// The request after all changes of a run.
#[derive(Debug)]
pub(super) struct RequestAfter {
    method: String,
    path: String,
    body: Option<Body>,
}

impl RequestAfter {
    /// Reads `rest.after` of a family's file.
    pub(super) fn read(
        top: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        problems: &mut Problems,
    ) -> Option<Self> {
        let rest = top.get("rest")?;
        if protocol_kind != ProtocolKind::Rest {
            problems.push(rest.problem("this protocol sends no requests for paths: leave it out"));
        }
        rest.only(&["after"], problems);
        let after = rest.required("after", problems)?;
        after.only(&["method", "path", "body"], problems);
        let method = after.required_text("method", problems);
        let path = after.required_text("path", problems);
        let body = after.optional("body", |body| Body::read(body, &[], problems));
        Some(Self {
            method: method?.to_owned(),
            path: path?.trim().to_owned(),
            body: body?,
        })
    }

    /// Sends the request.
    ///
    /// # Errors
    /// Fails with the device's reason.
    pub(super) async fn send(&self, ctx: &Context<'_>) -> Result<()> {
        let store = ctx.data_store().ok_or_else(|| {
            Error::Unsupported("the open session has no data to change".to_owned())
        })?;
        let scope = Scope::of_row(&Hash::new());
        let value = |body: &Body| body.value(&scope, &Secrets::default());
        let request = DataRequest {
            what: self.path.clone(),
            method: Some(self.method.clone()),
            body: self.body.as_ref().map(value).transpose()?.flatten(),
        };
        ctx.debug(format!(
            "sends `{} {}` after all changes",
            self.method, self.path
        ));
        store.set(ctx, &request).await?;
        Ok(())
    }
}
