//! Delays packets: the kernel queues the packets of a port (`tests/lab/link.sh queue`), and this module
//! lets them pass later. It replaces netem, which not every kernel has.
//!
//! The messages are nfnetlink's (Linux, `linux/netfilter/nfnetlink_queue.h`). Numbers in their attributes
//! are big-endian, those of the headers have the machine's byte order.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send,
    socket,
};

/// Subsystem 3 of nfnetlink, and its messages.
const PACKET: u16 = 3 << 8;
const VERDICT: u16 = PACKET | 1;
const CONFIG: u16 = PACKET | 2;

const ACCEPT: u32 = 1;
const HEADERS: usize = 16 + 4;

/// Delays every packet of a queue until it is dropped.
pub(crate) struct Delay {
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Delay {
    /// Lets each packet of a queue pass after `time`.
    pub(crate) fn of(queue: u16, time: Duration) -> Self {
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
            SockProtocol::NetlinkNetFilter,
        )
        .expect("root may ask netfilter");
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0)).expect("an address is free");
        // NFQA_CFG_CMD: bind. NFQA_CFG_PARAMS: only the number of a packet is needed, not its content.
        send_message(&socket, CONFIG, queue, 1, &[1, 0, 0, 0]);
        send_message(&socket, CONFIG, queue, 2, &[0, 0, 0, 0, 1]);
        let stopped = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&stopped);
        let thread = Some(spawn(move || delay_packets(&socket, queue, time, &ended)));
        Self { stopped, thread }
    }
}

impl Drop for Delay {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn delay_packets(socket: &OwnedFd, queue: u16, time: Duration, stopped: &AtomicBool) {
    let mut held: VecDeque<(Instant, u32)> = VecDeque::new();
    let mut bytes = vec![0; 64 * 1024];
    while !stopped.load(Ordering::Relaxed) {
        let next = held.front().map_or(Duration::from_millis(50), |(due, _)| {
            due.saturating_duration_since(Instant::now())
        });
        let next = u16::try_from(next.as_millis()).unwrap_or(50);
        let mut ready = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut ready, PollTimeout::from(next));
        while let Ok(read) = recv(socket.as_raw_fd(), &mut bytes, MsgFlags::empty()) {
            held.extend(packets(&bytes[..read]).map(|number| (Instant::now() + time, number)));
        }
        while let Some((due, number)) = held.front().copied()
            && due <= Instant::now()
        {
            held.pop_front();
            let verdict = [ACCEPT.to_be_bytes(), number.to_be_bytes()].concat();
            send_message(socket, VERDICT, queue, 2, &verdict);
        }
    }
}

/// Returns the numbers of the reported packets: NFQA_PACKET_HDR, the first attribute of each message.
fn packets(mut bytes: &[u8]) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        while bytes.len() > HEADERS {
            let length = u32::from_ne_bytes(bytes[..4].try_into().ok()?) as usize;
            let kind = u16::from_ne_bytes(bytes[4..6].try_into().ok()?);
            let message = bytes.get(..length)?;
            bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
            if kind == PACKET {
                let number = message.get(HEADERS + 4..HEADERS + 8)?;
                return Some(u32::from_be_bytes(number.try_into().ok()?));
            }
        }
        None
    })
}

/// Sends a request with one attribute.
fn send_message(socket: &OwnedFd, kind: u16, queue: u16, attribute: u16, value: &[u8]) {
    let length = 4 + value.len();
    let mut message = Vec::new();
    let length_of_message =
        u32::try_from(HEADERS + length.next_multiple_of(4)).expect("it is short");
    message.extend(length_of_message.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(1_u16.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0, 0]);
    message.extend(queue.to_be_bytes());
    message.extend(u16::try_from(length).expect("it is short").to_ne_bytes());
    message.extend(attribute.to_ne_bytes());
    message.extend(value);
    message.resize(length_of_message as usize, 0);
    send(socket.as_raw_fd(), &message, MsgFlags::empty()).expect("netfilter takes a request");
}
