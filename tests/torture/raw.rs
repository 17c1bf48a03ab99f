//! Each habit as it is sent, seen by an unprotected client.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::Shell;
use crate::device::answer::Expected;
use crate::device::habit::HABITS;
use crate::device::world::World;
use crate::device::{PASSWORD, Torture};

const SEED: u64 = 7;

/// Returns the content of a user's terminal while and after a line is typed, up to the second prompt, which
/// is given by its end.
async fn seen(device: &Torture, user: &str, typed: &str) -> String {
    let mut shell = Shell::of(device.port(), user, PASSWORD).await;
    let end = end_of_prompt(user);
    let opening = shell.until(&end).await;
    opening + &shell.answer(typed, &end).await
}

fn end_of_prompt(user: &str) -> String {
    let world = World::of(SEED, user);
    let prompt = world.prompt(Duration::ZERO, 0);
    let mark = prompt
        .trim_end()
        .chars()
        .last()
        .expect("a prompt has a mark");
    let blank = if prompt.ends_with(' ') { " " } else { "" };
    format!("{mark}{blank}{}", world.habit.behind_prompt())
}

#[tokio::test]
async fn each_habit_is_as_bad_as_its_name() {
    let device = Torture::start(SEED);
    let name = |user: &str| World::of(SEED, user).name;
    let prompt = |user: &str| World::of(SEED, user).prompt(Duration::ZERO, 0);
    let blanks = " ".repeat(10);
    let (back, long) = (
        "\x08".repeat(10),
        format!("show nothing 1 {}", "x".repeat(700)),
    );
    for (user, typed, parts) in [
        (
            "plain",
            "show nothing 1",
            vec![format!("{}show nothing 1\r\n", prompt("plain"))],
        ),
        (
            "brackets",
            "",
            vec![format!("[{}] > \r\n", name("brackets"))],
        ),
        ("lldpcli", "", vec!["[lldpcli] # \r\n".to_owned()]),
        ("unicode", "", vec![" ❯ \r\n".to_owned()]),
        ("angle", "", vec![format!("<{}>\r\n", name("angle"))]),
        (
            "user-at",
            "",
            vec![format!("admin@{}:~$ \r\n", name("user-at"))],
        ),
        (
            "counter",
            "",
            vec![
                format!("{}:0", name("counter")),
                format!("{}:1", name("counter")),
            ],
        ),
        (
            "colours",
            "",
            vec![format!("\x1b[1m\x1b[32m{}\x1b[0m", prompt("colours"))],
        ),
        (
            "paste",
            "",
            vec![format!("\x1b[?2004h{}\r\n\x1b[?2004l\r", prompt("paste"))],
        ),
        ("title", "", vec!["\x1b]0;switch: ~\x07".to_owned()]),
        ("bell", "", vec![format!("\x07{}\x07", prompt("bell"))]),
        ("nul", "", vec![format!("\0\0{}\0\r\n\0\0", prompt("nul"))]),
        (
            "empty-above",
            "",
            vec![format!("\r\n\r\n{}", prompt("empty-above"))],
        ),
        ("edit", "", vec!["\r\n\r\n[edit]\r\n".to_owned()]),
        ("master", "", vec!["\r\n{master:0}\r\nadmin@".to_owned()]),
        (
            "no-echo",
            "show nothing 1",
            vec![format!("{}\r\n{}", prompt("no-echo"), prompt("no-echo"))],
        ),
        (
            "whole-echo",
            "show nothing 1",
            vec!["show nothing 1\r\n".to_owned()],
        ),
        (
            "redrawn",
            "show",
            vec![format!("\r{}sho\x1b[K\r{0}show\x1b[K", prompt("redrawn"))],
        ),
        (
            "scrolls",
            &long,
            vec!["$xxxx".to_owned(), "\x1b[K".to_owned()],
        ),
        ("crcrlf", "", vec!["\r\r\n".to_owned()]),
        ("lfcr", "", vec!["\n\r".to_owned()]),
        ("padding", "", vec!["\r\n\0\0".to_owned()]),
        ("pager", "", vec![prompt("pager")]),
    ] {
        let seen = seen(&device, user, typed).await;
        for part in parts {
            assert!(seen.contains(&part), "{user}: {part:?} is not in {seen:?}");
        }
    }
    for (user, edge) in [
        ("wraps-80", " \r"),
        ("wraps-back-80", " \x08"),
        ("wraps-line-80", "\r\n"),
    ] {
        let seen = seen(&device, user, &long).await;
        let first = format!("{}{edge}", &(prompt(user) + &long)[..80]);
        assert!(
            seen.contains(&first),
            "{user}: {first:?} is not in {seen:?}"
        );
    }
    for (user, erased) in [
        ("pager", format!("{back}{blanks}{back}")),
        ("pager-stays", "\r\n".to_owned()),
    ] {
        let (output, seen) = paged(&device, user, &erased).await;
        assert_eq!(seen, output, "{user}");
    }
}

/// Returns a long output as the device intends it, and as its pages appear without the pager's prompts.
async fn paged(device: &Torture, user: &str, erased: &str) -> (String, String) {
    let mut shell = Shell::of(device.port(), user, PASSWORD).await;
    let end = end_of_prompt(user);
    shell.until(&end).await;
    let command = (0..).map(|number| format!("show plain {number}"));
    let (command, output) = command
        .filter_map(|command| match device.expected(user, &command, false) {
            Expected::Output(output) if output.lines().count() > 12 => Some((command, output)),
            _ => None,
        })
        .next()
        .expect("some output is long");
    let pager = if user == "pager" {
        " --More-- "
    } else {
        "<--- More --->"
    };
    shell.send(&format!("{command}\r")).await;
    let mut seen = String::new();
    for _ in 0..(output.lines().count() - 1) / 10 {
        seen += &shell.until(pager).await;
        shell.send(" ").await;
    }
    seen += &shell.until(&end).await;
    let output = format!(
        "{command}\n{output}{}",
        World::of(SEED, user).prompt(Duration::ZERO, 1)
    );
    assert!(seen.contains(&format!("{pager}{erased}")), "{seen:?}");
    (
        output,
        seen.replace(&format!("{pager}{erased}"), "")
            .replace("\r\n", "\n"),
    )
}

#[tokio::test]
async fn a_driver_shows_what_is_typed_while_nobody_reads() {
    let device = Torture::start(SEED);
    let mut shell = Shell::of(device.port(), "driver-echo", PASSWORD).await;
    let end = end_of_prompt("driver-echo");
    shell.until(&end).await;
    let slow = (0..)
        .map(|number| format!("show prompt-pause {number}"))
        .find(|command| device.answer("driver-echo", command).pauses() > 300)
        .expect("some pause is long");
    shell.send(&format!("{slow}\r")).await;
    shell.until(&end).await;
    shell.send("    \r").await;
    let rest = shell.until(&end).await;
    assert!(rest.starts_with("    \r\n"), "{rest:?}");
}

#[tokio::test]
async fn messages_and_banners_come_when_they_want() {
    let device = Torture::start(SEED);
    for (user, mark) in [
        ("log", "%"),
        ("log-again", "%"),
        ("log-amid", "%"),
        ("late-banner", "staff only"),
    ] {
        let mut found = false;
        for variant in 0..20 {
            let user = format!("{user}.{variant}");
            let mut shell = Shell::of(device.port(), &user, PASSWORD).await;
            let opening = shell.until(&end_of_prompt(&user)).await;
            let rest = tokio::time::timeout(Duration::from_millis(900), async {
                if user.starts_with("log-amid") {
                    shell.send("show").await;
                }
                shell.until("\r\n").await
            });
            let rest = rest.await.unwrap_or_default();
            found = opening.contains(mark) || rest.contains(mark);
            if found {
                break;
            }
        }
        assert!(found, "{user} shows no {mark:?}");
    }
    let mut shell = Shell::of(device.port(), "banner", PASSWORD).await;
    let greeting = shell.until("\r\n\r\n").await;
    assert!(greeting.contains(" is not a prompt"), "{greeting:?}");
    let mut shell = Shell::of(device.port(), "key", PASSWORD).await;
    shell.until("Press any key to continue").await;
    shell.send(" ").await;
    shell.until(&end_of_prompt("key")).await;
}

#[tokio::test]
async fn the_link_delays_and_cuts() {
    let device = Torture::start(SEED);
    for (user, least) in [("far", 400), ("one-by-one", 300)] {
        let mut shell = Shell::of(device.port(), user, PASSWORD).await;
        shell.until(&end_of_prompt(user)).await;
        let started = tokio::time::Instant::now();
        shell.answer("", &end_of_prompt(user)).await;
        assert!(started.elapsed() >= Duration::from_millis(least), "{user}");
    }
    let mut shell = Shell::of(device.port(), "trickle", PASSWORD).await;
    let mut pieces = 0;
    let prompt = World::of(SEED, "trickle").prompt(Duration::ZERO, 0);
    let mut length = 0;
    while length < prompt.len() {
        if let Some(russh::ChannelMsg::Data { data }) = shell.channel.wait().await {
            (pieces, length) = (pieces + 1, length + data.len());
            assert!(data.len() <= 3);
        }
    }
    assert!(pieces > 0);
}

#[tokio::test]
async fn the_device_knows_who_has_answered_its_question() {
    let device = Torture::start(SEED);
    let mut shell = Shell::of(device.port(), "plain", PASSWORD).await;
    shell.until(&end_of_prompt("plain")).await;
    let Expected::Question { question, .. } = device.expected("plain", "show confirm 3", false)
    else {
        panic!("it asks");
    };
    shell.send("show confirm 3\r").await;
    shell.until(&question).await;
    assert!(
        device
            .journal
            .consents("plain", "show confirm 3")
            .is_empty()
    );
    shell.send("y\r").await;
    shell.until("Done.\r\n").await;
    assert_eq!(device.journal.consents("plain", "show confirm 3"), b"y");
    assert_eq!(device.journal.count_received("plain", "show confirm 3"), 1);
}

#[tokio::test]
async fn telnet_asks_who_is_there() {
    let device = Torture::start(SEED);
    let mut stream = TcpStream::connect(("127.0.0.1", device.telnet_port()))
        .await
        .expect("it listens");
    // The client's window is 100 columns wide.
    let output = b"\xff\xfb\x1f\xff\xfa\x1f\x00\x64\x00\x18\xff\xf0wraps.0\r\0";
    stream.write_all(output).await.expect("it listens");
    stream
        .write_all(format!("{PASSWORD}\r\0").as_bytes())
        .await
        .expect("it listens");
    stream
        .write_all("x".repeat(150).as_bytes())
        .await
        .expect("it listens");
    let mut seen = Vec::new();
    let first = World::of(SEED, "wraps.0").prompt(Duration::ZERO, 0);
    let first = format!("{first}{} \r", "x".repeat(100 - first.len()));
    while !String::from_utf8_lossy(&seen).contains(&first) {
        let mut bytes = [0; 1000];
        let length = stream.read(&mut bytes).await.expect("it talks");
        assert!(length > 0, "{:?}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&bytes[..length]);
    }
    assert!(String::from_utf8_lossy(&seen).contains("login: "));
}

#[test]
fn habits_and_outputs_have_names_of_their_own() {
    for (at, habit) in HABITS.iter().enumerate() {
        assert!(
            HABITS[..at].iter().all(|other| other.name != habit.name),
            "{}",
            habit.name
        );
    }
}
