//! What a change does to its resource.

use devgate_transports::Context;

use crate::Change;

/// What a change does to its resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Create,
    Update,
    Delete,
}

impl What {
    pub(super) fn of(change: &Change) -> Self {
        match (&change.should, change.is.resource()) {
            (None, _) => Self::Delete,
            (Some(should), _) if !should.is_present() => Self::Delete,
            (Some(_), Some(is)) if is.is_present() => Self::Update,
            (Some(_), _) => Self::Create,
        }
    }

    /// Tells that it was done.
    pub(super) fn tell(self, ctx: &Context<'_>, title: &str) {
        match self {
            Self::Create => ctx.created(title),
            Self::Update => ctx.updated(title),
            Self::Delete => ctx.deleted(title),
        }
    }
}
