//! Programs that never stop writing: that one has written more than is kept of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use super::{OutputSink, Stream};

/// Hears when a program has written more to stdout than is kept: who does not want to wait for its end then, drops its
/// run.
#[derive(Debug)]
pub struct OutputLimit {
    most: usize,
    heard: AtomicUsize,
    exceeded: Notify,
}

impl OutputLimit {
    /// Of more than so many bytes.
    pub fn over(most: usize) -> Self {
        Self {
            most,
            heard: AtomicUsize::new(0),
            exceeded: Notify::new(),
        }
    }

    /// Waits until it has written more.
    pub async fn comes(&self) {
        self.exceeded.notified().await;
    }
}

impl OutputSink for OutputLimit {
    fn write(&self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Stdout {
            let before = self.heard.fetch_add(bytes.len(), Ordering::Relaxed);
            if before.saturating_add(bytes.len()) > self.most {
                self.exceeded.notify_one();
            }
        }
    }
}
