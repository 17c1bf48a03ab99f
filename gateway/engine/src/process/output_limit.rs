//! Notices that a program has written more output than is kept.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use super::{OutputSink, Stream};

/// Notices when a program has written more to stdout than is kept. A caller that does not want to wait for its end can
/// drop the run then.
#[derive(Debug)]
pub struct OutputLimit {
    limit: usize,
    written: AtomicUsize,
    exceeded: Notify,
}

impl OutputLimit {
    /// Creates a limit of this many bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            written: AtomicUsize::new(0),
            exceeded: Notify::new(),
        }
    }

    /// Waits until the limit is exceeded.
    pub async fn exceeded(&self) {
        self.exceeded.notified().await;
    }
}

impl OutputSink for OutputLimit {
    fn write(&self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Stdout {
            let before = self.written.fetch_add(bytes.len(), Ordering::Relaxed);
            if before.saturating_add(bytes.len()) > self.limit {
                self.exceeded.notify_one();
            }
        }
    }
}
