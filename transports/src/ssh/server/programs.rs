//! The programs that the server for tests can run.

use russh::server::{Handle, Msg};
use russh::{Channel, ChannelMsg, Sig};

/// Runs `cat`, `exit CODE`, `signal`, `count LINES`, `flood` (as much as it can), `late` (the end
/// before its output), or `hang`.
pub(super) async fn run(command: String, mut channel: Channel<Msg>, handle: Handle) {
    let id = channel.id();
    let words: Vec<&str> = command.split(' ').collect();
    match words[..] {
        ["cat"] => {
            while let Some(message) = channel.wait().await {
                match message {
                    ChannelMsg::Data { data } => {
                        let _ = channel.data_bytes(data).await;
                    }
                    ChannelMsg::Eof => break,
                    _ => {}
                }
            }
            let _ = handle.exit_status_request(id, 0).await;
        }
        ["exit", code] => {
            let _ = channel.extended_data_bytes(1, "bye\n").await;
            let _ = handle
                .exit_status_request(id, code.parse().expect("a code"))
                .await;
        }
        ["signal"] => {
            let (none, language) = (String::new(), String::new());
            let _ = handle
                .exit_signal_request(id, Sig::Custom("TERM".into()), false, none, language)
                .await;
        }
        ["count", lines] => {
            for line in 0..lines.parse().expect("a number") {
                let _ = channel.data_bytes(format!("{line}\n")).await;
            }
            let _ = handle.exit_status_request(id, 0).await;
        }
        ["flood"] => while channel.data_bytes(vec![b'x'; 16_000]).await.is_ok() {},
        ["late"] => {
            let _ = handle.exit_status_request(id, 3).await;
            let _ = channel.data_bytes("late\n").await;
        }
        _ => while channel.wait().await.is_some() {},
    }
    let _ = handle.eof(id).await;
    let _ = handle.close(id).await;
}
