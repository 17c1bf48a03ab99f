//! Transactions: changes of the candidate configuration that are committed at once, without the changes of other
//! administrators, or reverted.

use std::time::Duration;

use quick_xml::escape::escape;

use super::commit::commit;
use super::session::PanosSession;
use crate::http::Repeat;
use crate::xml::Element;
use crate::{Context, DataRequest, DataStore, Document, Error, Result};

/// The administrators with changes that are not committed.
const ADMINS: &str = "<show><config><list><admins></admins></list></config></show>";

/// Makes changes in the candidate configuration, and commits those of this session's administrator.
///
/// # Errors
/// Fails with [`Error::Refused`] when the device refuses a change, or when the commit fails, with the reason. The
/// changes are then reverted. Fails before anything is sent if the administrator has other changes that are not
/// committed, because they would be committed or reverted, too.
pub(super) async fn run(
    session: &PanosSession,
    ctx: &Context<'_>,
    requests: &[DataRequest],
    limit: Duration,
) -> Result<Document> {
    let admin = session.admin()?;
    if has_changes(session, ctx, admin).await? {
        return Err(Error::Unsupported(format!(
            "the administrator {admin} has changes that are not committed: commit or revert them, or use an account that \
             only devgate uses; nothing was sent"
        )));
    }
    let own = format!(
        "<partial><admin><member>{}</member></admin></partial>",
        escape(admin)
    );
    let committed = change(session, ctx, requests, &own, limit).await;
    if matches!(committed, Err(Error::Refused(_))) {
        let revert = format!("<revert><config>{own}</config></revert>");
        let fields = [("type", "op"), ("cmd", revert.as_str())];
        if let Err(error) = session.call(ctx, &fields, Repeat::Never).await {
            ctx.warning(format!(
                "the changes of {admin} stay in the candidate configuration, because they could not be reverted: {error}"
            ));
        }
    }
    committed
}

async fn change(
    session: &PanosSession,
    ctx: &Context<'_>,
    requests: &[DataRequest],
    own: &str,
    limit: Duration,
) -> Result<Document> {
    for request in requests {
        if !matches!(
            request.method.as_deref(),
            None | Some("set" | "edit" | "delete")
        ) {
            return Err(Error::Unsupported(
                "a transaction of panos takes the methods `set`, `edit` and `delete`".to_owned(),
            ));
        }
        session.set(ctx, request).await?;
    }
    commit(session, ctx, &format!("<commit>{own}</commit>"), limit).await
}

/// Whether an administrator has changes that are not committed. A device that cannot tell counts as one without.
async fn has_changes(session: &PanosSession, ctx: &Context<'_>, admin: &str) -> Result<bool> {
    let fields = [("type", "op"), ("cmd", ADMINS)];
    match session.call(ctx, &fields, Repeat::Allowed).await {
        Ok((_, response)) => Ok(names(&response, admin)),
        Err(Error::Refused(refused)) => {
            ctx.warning(format!(
                "whether {admin} has other changes is not known, and they would be committed, too: {refused}"
            ));
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Whether an element or one below it has a name as its text or its `name`.
fn names(element: &Element, name: &str) -> bool {
    element.text.trim() == name
        || element.attribute("name") == Some(name)
        || element.children.iter().any(|child| names(child, name))
}
