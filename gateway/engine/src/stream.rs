//! Reports the output of tasks line by line while they run, without secrets.

use std::cell::RefCell;

use devgate_schemas::CUT;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::job::TargetJob;
use crate::process::{OutputSink, Stream};

/// The number of bytes of a line that are shown.
const MAX_SHOWN: usize = 8 * 1024;

/// The number of bytes of a line that are kept, so that a secret at the cut is still recognized.
const MAX_BUFFERED: usize = 2 * MAX_SHOWN;

/// The key of a hidden result in a task's output. From there on, the output is not shown.
const HIDDEN_KEY: &str = "\"_sensitive\"";

/// Reports the output of one target's task as it arrives.
#[derive(Debug)]
pub(crate) struct TaskOutputStream<'a> {
    job: &'a TargetJob<'a>,
    out: RefCell<LineBuffer>,
    err: RefCell<LineBuffer>,
}

/// An output in lines.
#[derive(Debug, Default)]
struct LineBuffer {
    line: Vec<u8>,
    cut: bool,
    hidden: bool,
}

impl<'a> TaskOutputStream<'a> {
    /// Creates a sink that turns output into events of the run.
    pub(crate) fn new(job: &'a TargetJob<'a>) -> Self {
        Self {
            job,
            out: RefCell::default(),
            err: RefCell::default(),
        }
    }

    fn show(&self, stream: Stream, line: &LineBuffer) {
        let mut text = String::from_utf8_lossy(&line.line).into_owned();
        if line.cut {
            text.push_str(CUT);
        }
        let mut text = self.job.masked(text.trim_end_matches('\r')).into_bytes();
        let cut = line.cut || text.len() > MAX_SHOWN;
        text.truncate(MAX_SHOWN);
        let text = String::from_utf8_lossy(&text);
        let label = match stream {
            Stream::Stdout => "out",
            Stream::Stderr => "err",
        };
        let more = if cut { " [cut]" } else { "" };
        let line = format!("[{}] {label}: {text}{more}\n", self.job.target);
        self.job.run.events.record_output(&line);
    }
}

impl OutputSink for TaskOutputStream<'_> {
    fn write(&self, stream: Stream, bytes: &[u8]) {
        let lines = match stream {
            Stream::Stdout => &self.out,
            Stream::Stderr => &self.err,
        };
        lines
            .borrow_mut()
            .take(bytes, |line| self.show(stream, line));
    }

    /// A task that writes faster than its output is read has to wait, as with any pipe.
    fn ready(&self) -> Option<BoxFuture<'_, ()>> {
        Some(self.job.run.events.wait_for_followers().boxed())
    }
}

/// Reports the last line, which need not have an end.
impl Drop for TaskOutputStream<'_> {
    fn drop(&mut self) {
        for (stream, lines) in [(Stream::Stdout, &self.out), (Stream::Stderr, &self.err)] {
            let mut lines = lines.take();
            if !lines.line.is_empty() {
                lines.end(|line| self.show(stream, line));
            }
        }
    }
}

impl LineBuffer {
    /// Adds output, and passes every line that it completes to `show`.
    fn take(&mut self, bytes: &[u8], mut show: impl FnMut(&Self)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            let capacity = MAX_BUFFERED - self.line.len();
            self.line
                .extend_from_slice(&text[..text.len().min(capacity)]);
            self.cut |= text.len() > capacity;
            if ended {
                self.end(&mut show);
            }
        }
    }

    fn end(&mut self, mut show: impl FnMut(&Self)) {
        let begins = self
            .line
            .windows(HIDDEN_KEY.len())
            .any(|bytes| bytes == HIDDEN_KEY.as_bytes());
        if begins && !self.hidden {
            self.line = b"[hidden from here on: _sensitive]".to_vec();
            self.cut = false;
            show(self);
        } else if !self.hidden {
            show(self);
        }
        self.hidden |= begins;
        self.line.clear();
        self.cut = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(pieces: &[&[u8]]) -> Vec<(String, bool)> {
        let (mut buffer, mut lines) = (LineBuffer::default(), Vec::new());
        for piece in pieces {
            buffer.take(piece, |line| {
                lines.push((String::from_utf8_lossy(&line.line).into_owned(), line.cut));
            });
        }
        lines
    }

    #[test]
    fn lines_are_complete_however_they_arrive() {
        assert_eq!(
            collect(&[b"a", b"b\n\nc", b"\nrest"]),
            [("ab", false), ("", false), ("c", false)].map(|(line, cut)| (line.to_owned(), cut))
        );
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let endless = vec![b'x'; MAX_BUFFERED];
        let lines = collect(&[&endless, &endless, b"\n", b"next\n"]);
        assert_eq!(lines[0].0.len(), MAX_BUFFERED);
        assert!(lines[0].1);
        assert_eq!(lines[1], ("next".to_owned(), false));
    }

    #[test]
    fn a_result_that_a_task_hides_is_not_streamed() {
        let lines = collect(&[b"{\"_sensi", b"tive\": {\n\"a\": \"canary\"\n}}\n"]);
        assert_eq!(
            lines,
            [("[hidden from here on: _sensitive]".to_owned(), false)]
        );
    }
}
