//! The SSH side of a connection to the awkward device.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use russh::server::{Auth, ChannelOpenHandle, Handler, Msg, Response, Session};
use russh::{Channel, ChannelId, ChannelOpenFailure, MethodKind, MethodSet, Pty};
use tokio::sync::{Notify, mpsc};

use super::shell::{Habit, Shell};
use super::{Log, PASSWORD};

/// One connection.
pub(super) struct Client {
    connection: usize,
    habit: Habit,
    log: Log,
    cut: Arc<Notify>,
    typed: HashMap<ChannelId, mpsc::UnboundedSender<Vec<u8>>>,
    /// The number of sessions in use, over all connections, and whether this connection uses one.
    lines: Arc<AtomicUsize>,
    has_line: bool,
}

impl Client {
    pub(super) fn new(
        connection: usize,
        log: Log,
        cut: Arc<Notify>,
        lines: Arc<AtomicUsize>,
    ) -> Self {
        Self {
            connection,
            habit: Habit::None,
            log,
            cut,
            typed: HashMap::new(),
            lines,
            has_line: false,
        }
    }

    fn authenticate(&mut self, user: &str, password: &[u8]) -> Auth {
        self.habit = Habit::of(user);
        if password == PASSWORD.as_bytes() {
            Auth::Accept
        } else {
            Auth::reject()
        }
    }

    fn shell(&mut self, id: ChannelId, session: &Session) -> Shell {
        let (typed, input) = mpsc::unbounded_channel();
        self.typed.insert(id, typed);
        let (log, cut) = (self.log.clone(), Arc::clone(&self.cut));
        Shell::new(
            self.habit,
            session.handle(),
            id,
            input,
            self.connection,
            log,
            cut,
        )
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.has_line {
            self.lines.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Handler for Client {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        if Habit::of(user) == Habit::Keyboard {
            let methods = MethodSet::from(&[MethodKind::KeyboardInteractive][..]);
            return Ok(Auth::Reject {
                proceed_with_methods: Some(methods),
                partial_success: false,
            });
        }
        Ok(self.authenticate(user, password.as_bytes()))
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        user: &str,
        _: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, Self::Error> {
        match response.map(|mut answers| answers.next().unwrap_or_default()) {
            None => Ok(Auth::Partial {
                name: Cow::Borrowed(""),
                instructions: Cow::Borrowed(""),
                prompts: Cow::Borrowed(&[(Cow::Borrowed("Password: "), false)]),
            }),
            Some(password) => Ok(self.authenticate(user, &password)),
        }
    }

    async fn channel_open_session(
        &mut self,
        _: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        if let Habit::Lines(most) = self.habit {
            if self.lines.fetch_add(1, Ordering::Relaxed) >= most {
                self.lines.fetch_sub(1, Ordering::Relaxed);
                reply.reject(ChannelOpenFailure::ResourceShortage).await;
                return Ok(());
            }
            self.has_line = true;
        }
        reply.accept().await;
        Ok(())
    }

    async fn pty_request(
        &mut self,
        id: ChannelId,
        _: &str,
        _: u32,
        _: u32,
        _: u32,
        _: u32,
        _: &[(Pty, u32)],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        session.channel_success(id)
    }

    async fn shell_request(
        &mut self,
        id: ChannelId,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        session.channel_success(id)?;
        tokio::spawn(self.shell(id, session).serve());
        Ok(())
    }

    async fn exec_request(
        &mut self,
        id: ChannelId,
        command: &[u8],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        session.channel_success(id)?;
        let command = String::from_utf8_lossy(command).into_owned();
        tokio::spawn(self.shell(id, session).run_command(command));
        Ok(())
    }

    async fn data(
        &mut self,
        id: ChannelId,
        data: &[u8],
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        if let Some(typed) = self.typed.get(&id) {
            // A shell that has ended does not read input.
            let _ = typed.send(data.to_vec());
        }
        Ok(())
    }

    async fn channel_close(&mut self, id: ChannelId, _: &mut Session) -> Result<(), Self::Error> {
        self.typed.remove(&id);
        Ok(())
    }
}
