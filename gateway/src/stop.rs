//! Being stopped: how whoever runs things learns that somebody wants them to end.
//!
//! A run has one [`Stopper`]; everything that it does carries a [`Stop`] and asks it.

use tokio::sync::watch;

/// How urgently a run is to end; each stage includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Nobody wants it to end.
    #[default]
    Go,
    /// Nothing new is begun; what runs may come to its end.
    Finish,
    /// What runs is asked to end, and killed when it does not.
    End,
    /// What runs is killed.
    Kill,
}

/// Tells a run how urgently it is to end.
#[derive(Debug, Default)]
pub(crate) struct Stopper {
    stage: watch::Sender<Stage>,
    /// Each receiver is held by something that is not to be ended by time alone.
    held: watch::Sender<()>,
}

/// Hears how urgently a run is to end.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    stage: watch::Receiver<Stage>,
    held: watch::Sender<()>,
}

/// While there is one, time alone does not end what runs: a device would be left half changed.
#[derive(Debug)]
pub(crate) struct Held {
    _counted: watch::Receiver<()>,
}

impl Stopper {
    /// What is to be carried by everything that the run does.
    pub(crate) fn stop(&self) -> Stop {
        Stop {
            stage: self.stage.subscribe(),
            held: self.held.clone(),
        }
    }

    /// Whether somebody holds it.
    pub(crate) fn is_held(&self) -> bool {
        self.held.receiver_count() > 0
    }

    /// Raises the stage; a run is never told to go on.
    pub(crate) fn raise(&self, to: Stage) {
        self.stage.send_if_modified(|stage| {
            let raised = to > *stage;
            *stage = to.max(*stage);
            raised
        });
    }
}

impl Stop {
    /// The stage that is reached now.
    pub(crate) fn stage(&self) -> Stage {
        *self.stage.borrow()
    }

    /// From now on time alone does not end what runs, until what this gives is dropped.
    pub(crate) fn hold(&self) -> Held {
        Held {
            _counted: self.held.subscribe(),
        }
    }

    /// Waits until a stage is reached; for ever, where nobody can stop the run any more.
    pub(crate) async fn reaches(&self, stage: Stage) {
        let mut stages = self.stage.clone();
        if stages.wait_for(|reached| *reached >= stage).await.is_err() {
            std::future::pending().await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stages_only_rise_and_are_waited_for() {
        let stopper = Stopper::default();
        let stop = stopper.stop();
        assert_eq!(stop.stage(), Stage::Go);
        let waiting = tokio::spawn({
            let stop = stop.clone();
            async move { stop.reaches(Stage::End).await }
        });
        stopper.raise(Stage::Finish);
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        stopper.raise(Stage::Kill);
        waiting.await.expect("it was reached");
        stopper.raise(Stage::Finish);
        assert_eq!(stop.stage(), Stage::Kill);
    }

    #[test]
    fn a_run_is_held_as_long_as_somebody_holds_it() {
        let stopper = Stopper::default();
        let held = stopper.stop().hold();
        let other = stopper.stop().hold();
        drop(held);
        assert!(stopper.is_held());
        drop(other);
        assert!(!stopper.is_held());
    }

    #[tokio::test]
    async fn what_nobody_can_stop_is_never_stopped() {
        let stop = Stopper::default().stop();
        let waited = futures_util::FutureExt::now_or_never(stop.reaches(Stage::Finish));
        assert!(waited.is_none());
    }
}
