//! Network lines to devices: slow ones, so that a test can act while bytes are in transit, and a closed
//! port.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

use super::lab::pause;

/// Listens on a new port and returns it. Forwards everything to `port` and back, with `delay` in each
/// direction.
pub(crate) fn slow_line(port: u16, delay: Duration) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let own = listener.local_addr().expect("a listener has an address");
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(device) = TcpStream::connect(("127.0.0.1", port)) else {
                continue;
            };
            let (up, down) = (client.try_clone(), device.try_clone());
            carry(up.expect("a socket can be cloned"), device, delay);
            carry(down.expect("a socket can be cloned"), client, delay);
        }
    });
    own.port()
}

/// A line on which the answer to a request never arrives.
pub(crate) struct MuteLine {
    /// Where it begins.
    pub(crate) port: u16,
    /// Says when the request has passed.
    pub(crate) passed: Receiver<()>,
    /// How often the request has passed.
    pub(crate) count: Arc<AtomicUsize>,
}

impl MuteLine {
    /// Listens on a new port. Forwards everything to `port` and back, until a client sends `request`: that connection
    /// carries no answers from then on. Later connections carry all.
    pub(crate) fn to(port: u16, request: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let own = listener.local_addr().expect("a listener has an address");
        let (sender, passed) = channel();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(device) = TcpStream::connect(("127.0.0.1", port)) else {
                    continue;
                };
                let is_mute = Arc::new(AtomicBool::new(false));
                let clone =
                    |socket: &TcpStream| socket.try_clone().expect("a socket can be cloned");
                let (up, down) = (clone(&client), clone(&device));
                let (counted, sender, muted) =
                    (Arc::clone(&counted), sender.clone(), Arc::clone(&is_mute));
                std::thread::spawn(move || {
                    forward(up, device, |bytes| {
                        let found = bytes
                            .windows(request.len())
                            .any(|part| part == request.as_bytes());
                        if found && counted.fetch_add(1, Ordering::SeqCst) == 0 {
                            muted.store(true, Ordering::SeqCst);
                            let _ = sender.send(());
                        }
                        true
                    })
                });
                std::thread::spawn(move || {
                    forward(down, client, |_| !is_mute.load(Ordering::SeqCst))
                });
            }
        });
        let port = own.port();
        Self {
            port,
            passed,
            count,
        }
    }
}

/// Forwards what `passes` lets pass, and the end as well.
fn forward(mut from: TcpStream, mut to: TcpStream, passes: impl Fn(&[u8]) -> bool) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if passes(&bytes[..read]) && to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    if passes(&[]) {
        let _ = to.shutdown(Shutdown::Both);
    }
}

/// Returns a port where nothing listens, and where nothing can begin to listen while the socket exists.
pub(crate) fn closed_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().expect("a socket");
    let any = ([127, 0, 0, 1], 0).into();
    socket.bind(any).expect("a port is free");
    let port = socket.local_addr().expect("it is bound").port();
    (socket, port)
}

/// Listens for datagrams on a new port and returns it. Forwards them to `port`, and the answers back.
pub(crate) fn relay(port: u16) -> u16 {
    let near = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let own = near.local_addr().expect("a socket has an address");
    std::thread::spawn(move || {
        let mut peers = HashMap::new();
        let mut bytes = [0; 64 * 1024];
        while let Ok((read, client)) = near.recv_from(&mut bytes) {
            let far = peers.entry(client).or_insert_with(|| {
                let far = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
                far.connect(("127.0.0.1", port))
                    .expect("a datagram socket connects");
                let [near, back] = [&near, &far].map(|socket| socket.try_clone());
                let (near, back) = (near.expect("it is open"), back.expect("it is open"));
                std::thread::spawn(move || {
                    let mut bytes = [0; 64 * 1024];
                    while let Ok(read) = back.recv(&mut bytes) {
                        let _ = near.send_to(&bytes[..read], client);
                    }
                });
                far
            });
            let _ = far.send(&bytes[..read]);
        }
    });
    own.port()
}

/// Listens on a new port and returns it. Like a terminal server, it shows nothing before Return is pressed,
/// and then forwards to `port`.
pub(crate) fn console(port: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let own = listener.local_addr().expect("a listener has an address");
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            // A typed line ends with a carriage return and one more byte (RFC 854).
            let mut pressed = [0; 2];
            if client.read_exact(&mut pressed).is_err() || pressed[0] != b'\r' {
                continue;
            }
            let device = TcpStream::connect(("127.0.0.1", port)).expect("the device listens");
            let (up, down) = (client.try_clone(), device.try_clone());
            carry(up.expect("a socket can be cloned"), device, Duration::ZERO);
            carry(
                down.expect("a socket can be cloned"),
                client,
                Duration::ZERO,
            );
        }
    });
    own.port()
}

fn carry(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (sender, receiver) = channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        let mut bytes = [0; 16 * 1024];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            if sender
                .send((Instant::now() + delay, bytes[..read].to_vec()))
                .is_err()
            {
                return;
            }
        }
    });
    std::thread::spawn(move || {
        for (due, bytes) in receiver {
            pause(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                return;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
