//! The transmission of bytes: late, in chunks, with gaps.

use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, timeout_at};

use super::dice::Dice;
use super::habit::Link;
use super::terminal::Line;

/// Connects a terminal with the input and the output of its client.
pub(super) fn carry(
    link: Link,
    mut dice: Dice,
    from_client: UnboundedReceiver<Vec<u8>>,
    to_client: UnboundedSender<Vec<u8>>,
) -> Line {
    let (typing, typed) = mpsc::unbounded_channel();
    let (output_sender, output) = mpsc::unbounded_channel();
    let delay = Duration::from_millis(dice.between(link.delay.0, link.delay.1) as u64);
    tokio::spawn(delayed(delay, link.one_by_one, from_client, typing));
    let (late, due) = mpsc::unbounded_channel();
    tokio::spawn(delayed(delay, link.one_by_one, output, late));
    tokio::spawn(chunked(link, dice, due, to_client));
    Line {
        typed,
        output: output_sender,
    }
}

/// Forwards bytes after a delay; one chunk at a time if nothing else can be in transit.
async fn delayed(
    delay: Duration,
    one_by_one: bool,
    mut from: UnboundedReceiver<Vec<u8>>,
    to: UnboundedSender<Vec<u8>>,
) {
    let (stamping, mut stamped) = mpsc::unbounded_channel();
    let stamp = async move {
        while let Some(bytes) = from.recv().await {
            if stamping.send((Instant::now(), bytes)).is_err() {
                break;
            }
        }
    };
    let pass = async move {
        while let Some((at, mut bytes)) = stamped.recv().await {
            while one_by_one && let Ok((_, more)) = stamped.try_recv() {
                bytes.extend(more);
            }
            let due = if one_by_one { Instant::now() } else { at } + delay;
            wait_until(due).await;
            if to.send(bytes).is_err() {
                break;
            }
        }
    };
    tokio::join!(stamp, pass);
}

async fn chunked(
    link: Link,
    mut dice: Dice,
    mut from: UnboundedReceiver<Vec<u8>>,
    to: UnboundedSender<Vec<u8>>,
) {
    while let Some(bytes) = from.recv().await {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let length = dice.between(link.chunk.0, link.chunk.1).min(rest.len());
            let (chunk, after) = rest.split_at(length);
            if to.send(chunk.to_vec()).is_err() {
                return;
            }
            rest = after;
            let gap = dice.between(link.gap.0, link.gap.1);
            if gap > 0 {
                wait_until(Instant::now() + Duration::from_millis(gap as u64)).await;
            }
        }
    }
}

async fn wait_until(time: Instant) {
    let _ = timeout_at(time, std::future::pending::<()>()).await;
}
