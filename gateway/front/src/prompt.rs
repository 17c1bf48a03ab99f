//! Prompts for a secret on the terminal. Stdin is not used, because it may contain data.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

use async_trait::async_trait;
use devgate_engine::plugins::SecretPrompt;
use devgate_schemas::Value;
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

/// Prompts the user at the terminal of this process.
#[derive(Debug)]
pub struct TerminalPrompt;

#[async_trait]
impl SecretPrompt for TerminalPrompt {
    async fn prompt(&self, question: &str) -> Result<Value, String> {
        let terminal =
            terminal().map_err(|_| format!("there is no terminal to ask \"{question}\""))?;
        let answer = read_secret(terminal, format!("{question}: ")).await;
        answer.map_err(|error| format!("cannot read the answer: {error}"))
    }
}

/// The controlling terminal of this process, else stdin if it is a terminal.
pub fn terminal() -> io::Result<File> {
    let tty = OpenOptions::new().read(true).write(true).open("/dev/tty");
    tty.or_else(|error| {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            Ok(File::from(stdin.as_fd().try_clone_to_owned()?))
        } else {
            Err(error)
        }
    })
}

/// Prompts without an echo. The echo is restored after the answer, or when the future is dropped.
pub async fn read_secret(terminal: File, question: String) -> io::Result<Value> {
    let _echo_off = EchoOff::new(&terminal)?;
    let mut screen = terminal.try_clone()?;
    screen.write_all(question.as_bytes())?;
    let (answered, answer) = oneshot::channel();
    // A separate thread, because nothing waits for it when the program ends.
    thread::Builder::new().spawn(move || {
        let mut line = Zeroizing::new(String::new());
        let read = BufReader::new(terminal).read_line(&mut line);
        let _ = answered.send(read.map(|length| (length > 0).then_some(line)));
    })?;
    let line = answer.await.map_err(io::Error::other)?;
    screen.write_all(b"\n")?;
    let line = line?.ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(Value::from(line.trim_end_matches(['\n', '\r'])).into_sensitive())
}

/// Disables the echo of a terminal until it is dropped.
struct EchoOff {
    terminal: OwnedFd,
    original: Termios,
}

impl EchoOff {
    fn new(terminal: &File) -> io::Result<Self> {
        let terminal = terminal.as_fd().try_clone_to_owned()?;
        let original = tcgetattr(&terminal)?;
        let mut quiet = original.clone();
        quiet.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(&terminal, SetArg::TCSAFLUSH, &quiet)?;
        Ok(Self { terminal, original })
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.terminal, SetArg::TCSANOW, &self.original);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use nix::pty::openpty;

    use super::*;

    #[tokio::test]
    async fn an_answer_is_read_without_an_echo_which_comes_back() -> io::Result<()> {
        let pty = openpty(None, None)?;
        let mut user = File::from(pty.master);
        let terminal = File::from(pty.slave);
        let echo = |terminal: &File| {
            tcgetattr(terminal).map(|now| now.local_flags.contains(LocalFlags::ECHO))
        };
        assert!(echo(&terminal)?);
        let answering = read_secret(terminal.try_clone()?, "Password: ".to_owned());
        let typing = async {
            // The question is only asked once nothing is shown any more.
            let mut screen_text = [0; 10];
            let mut screen = user.try_clone()?;
            let screen_text = tokio::task::spawn_blocking(move || {
                screen.read_exact(&mut screen_text).map(|()| screen_text)
            });
            assert_eq!(&screen_text.await??, b"Password: ");
            user.write_all(b"a canary\n")
        };
        let (answer, typed) = tokio::join!(answering, typing);
        typed?;
        assert_eq!(answer?.reveal_json(), "a canary");
        assert!(echo(&terminal)?);
        let mut screen_text = [0; 64];
        let length = user.read(&mut screen_text)?;
        assert_eq!(
            &screen_text[..length],
            b"\r\n",
            "only the end of the line is shown"
        );
        Ok(())
    }
}
