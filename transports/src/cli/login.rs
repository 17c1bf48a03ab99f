//! Opening a session: the prompt is learnt, privileged mode is entered, paging is turned off.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use devgate_schemas::shortened;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::ahead::Ahead;
use super::alarm::Alarm;
use super::proof::PromptProof;
use super::question::Question;
use super::read::ExpectedPrompt;
use super::run::failure;
use super::screen::Screen;
use super::state::{Cli, CliSettings, CliState, EchoState};
use super::wait::AnswerWait;
use crate::error::{AuthenticationProblem, Interruption, PartialOutput, Phase, one_line};
use crate::{Context, Error, Line, Result};

/// The maximum number of characters of the last line that are kept when a session does not open.
const LONGEST_LINE: usize = 4 << 10;

/// The credentials that a command line may ask for before its prompt.
#[derive(Debug)]
pub(crate) struct Credentials {
    /// The user name, if it asks for one.
    pub(crate) user: String,
    /// `None` if the user is logged in already.
    pub(crate) login: Option<CliLogin>,
    pub(crate) enable_password: Option<Line>,
}

/// The login at a command line that asks for it itself.
#[derive(Debug)]
pub(crate) struct CliLogin {
    pub(crate) password: Option<Line>,
    /// The name of the password's setting, for messages.
    pub(crate) setting: &'static str,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Brings a newly opened stream to its first proven prompt.
    ///
    /// # Errors
    /// Fails with [`Error::TimedOut`] or [`Error::Closed`] when no prompt comes before `deadline`, and with
    /// [`Error::Authentication`] or [`Error::Enable`] when the login or privileged mode is refused.
    pub(crate) async fn open(
        ctx: &Context<'_>,
        stream: S,
        mut settings: CliSettings,
        deadline: Instant,
        credentials: &Credentials,
    ) -> Result<Self> {
        if let Some(above) = &settings.dialect.prompt.above {
            // Between two prompts, it may be any such line.
            let above = above.to_pattern();
            Arc::make_mut(&mut settings.dialect).unsolicited.push(above);
        }
        let mut cli = Self {
            stream,
            screen: Screen::default(),
            settings,
            prompt: None,
            typed_at: None,
            is_in_text: false,
            is_padded: false,
            output_start: None,
            echo: EchoState::Unknown,
            prompt_behaviour: None,
            ahead: Ahead::default(),
            last_proof: PromptProof::default(),
            probes: RandomState::new().hash_one(()) as usize,
            has_paged: false,
            round_trip: Duration::ZERO,
            state: CliState::Busy,
            is_unprivileged: false,
            greeting: String::new(),
            most_kept: PartialOutput::OF_OPENING,
            alarm: Alarm::default(),
        };
        cli.first_prompt(ctx, deadline, credentials).await?;
        cli.enable(ctx, deadline, credentials).await?;
        cli.state = CliState::AtPrompt;
        let dialect = Arc::clone(&cli.settings.dialect);
        let on_open: Vec<Line> = dialect.on_open.iter().map(Line::new).collect();
        for answer in cli.run_all(ctx, &on_open).await {
            match answer {
                Ok(_) => {}
                // The user may not be allowed to turn paging off. Then pagers are answered.
                Err(error @ Error::CommandFailed { .. }) => ctx.info(error.to_string()),
                Err(error) => return Err(error),
            }
        }
        cli.most_kept = PartialOutput::OF_REQUEST;
        Ok(cli)
    }

    async fn first_prompt(
        &mut self,
        ctx: &Context<'_>,
        deadline: Instant,
        Credentials { user, login, .. }: &Credentials,
    ) -> Result<()> {
        let dialect = Arc::clone(&self.settings.dialect);
        let limit = deadline.saturating_duration_since(Instant::now());
        let mut wait = AnswerWait::new(ctx, "the wait for a prompt", limit, limit);
        let mut questions: Vec<Question<'_>> = dialect.login.iter().map(Question::typed).collect();
        if let Some(CliLogin { password, .. }) = login {
            let asked = &dialect.authentication;
            questions.push(Question::name(&asked.user_prompt, user));
            questions.push(Question::secret(&asked.password_prompt, password.as_ref()));
        }
        let woken = match login {
            Some(_) => self.wake(&questions, &mut wait).await,
            None => Ok(0),
        };
        let opening = match woken {
            Ok(returns) => {
                let proof = PromptProof::after(returns);
                self.read_answer(
                    &mut wait,
                    ExpectedPrompt::AnyPrompt,
                    None,
                    &mut questions,
                    proof,
                )
                .await
            }
            Err(why) => Err(why),
        };
        match opening {
            Ok(banner) => {
                if !banner.trim().is_empty() {
                    ctx.debug(format!("{} greets: {}", self.settings.peer, banner.trim()));
                }
                self.greeting = banner;
                let password = login.as_ref().and_then(|login| login.password.as_ref());
                self.learn_editor(&mut wait)
                    .await
                    .map_err(|why| self.opening_error(ctx, Phase::Prompt, why, password))
            }
            Err(why) => Err(match login {
                Some(login) if is_refusal(&why, &questions) => self.login_error(user, login, &why),
                _ => {
                    let password = login.as_ref().and_then(|login| login.password.as_ref());
                    self.opening_error(ctx, Phase::Prompt, why, password)
                }
            }),
        }
    }

    /// Returns the error for a refused login, with advice.
    fn login_error(&self, user: &str, login: &CliLogin, why: &Interruption) -> Error {
        let CliLogin { password, setting } = login;
        let message = |text: &str| match password {
            Some(password) => password.mask(text),
            None => text.to_owned(),
        };
        let mut lines = self.screen.text().lines().map(str::trim);
        let last = lines.rfind(|line| !line.is_empty());
        Error::Authentication(Box::new(AuthenticationProblem {
            peer: self.settings.peer.clone(),
            user: user.to_owned(),
            tried: if password.is_some() {
                "password, at its command line".to_owned()
            } else {
                "without a password".to_owned()
            },
            offered: Vec::new(),
            message: match why {
                Interruption::Asked(question) => message(question),
                _ => message(last.unwrap_or_default()),
            },
            next: match password {
                Some(_) => format!("check `user` and `{setting}`"),
                None => format!("it asks for one: set `{setting}`"),
            },
        }))
    }

    async fn enable(
        &mut self,
        ctx: &Context<'_>,
        deadline: Instant,
        credentials: &Credentials,
    ) -> Result<()> {
        let password = credentials.enable_password.as_ref();
        let dialect = Arc::clone(&self.settings.dialect);
        let Some(enable) = &dialect.enable else {
            return Ok(());
        };
        let is_privileged = |cli: &Self| {
            let pattern = dialect.prompt.privileged.as_ref();
            pattern.is_some_and(|pattern| pattern.is(cli.screen.last_line()))
        };
        if is_privileged(self) {
            return Ok(());
        }
        if password.is_none() && !enable.required {
            self.is_unprivileged = true;
            return Ok(());
        }
        let (peer, command) = (self.settings.peer.clone(), enable.command.clone());
        let refused = |problem: String| Error::Enable {
            peer,
            command,
            problem,
        };
        let limit = deadline
            .saturating_duration_since(Instant::now())
            .max(Duration::from_secs(1));
        let mut wait = AnswerWait::new(ctx, "the change to privileged mode", limit, limit);
        let command = Line::new(&enable.command);
        let asked = &dialect.authentication;
        let questions = vec![
            Question::secret(&enable.password_prompt, password),
            Question::name(&asked.user_prompt, &credentials.user),
        ];
        let fails = |message: &str| failure(&dialect, message).is_some();
        match self
            .type_line(&command, &mut wait, ExpectedPrompt::AnyPrompt, questions)
            .await
        {
            Ok(_) if is_privileged(self) => Ok(()),
            Ok(message) if dialect.prompt.privileged.is_none() && !fails(&message) => Ok(()),
            Ok(message) => {
                let message = password.map_or_else(|| message.clone(), |line| line.mask(&message));
                Err(refused(format!(
                    "it says `{}`: {}",
                    one_line(&message),
                    match password {
                        Some(_) => "check `enable_password`",
                        None => "does it want an `enable_password`?",
                    }
                )))
            }
            Err(Interruption::Asked(_)) if password.is_none() => Err(refused(
                "it asks for a password: set `enable_password`".to_owned(),
            )),
            Err(Interruption::Asked(_)) => Err(refused(
                "the password is wrong: check `enable_password`, and `user` where it asks for a name"
                    .to_owned(),
            )),
            Err(why) => Err(self.opening_error(ctx, Phase::Enable, why, password)),
        }
    }

    fn opening_error(
        &self,
        ctx: &Context<'_>,
        phase: Phase,
        why: Interruption,
        secret: Option<&Line>,
    ) -> Error {
        let peer = self.settings.peer.clone();
        let text = self.screen.text().trim();
        let text = secret.map_or_else(|| text.to_owned(), |secret| secret.mask(text));
        // A peer that is no device may send any amount without a line end.
        let last = shortened(text.lines().last().unwrap_or_default(), LONGEST_LINE);
        match why {
            Interruption::Lost => {
                if secret.is_some() {
                    // A device may refuse a login by hanging up, and lock the account after several.
                    ctx.retry_budget().record_lost_login();
                }
                Error::Closed {
                    peer,
                    phase,
                    message: last,
                }
            }
            Interruption::Silent(_) | Interruption::TooLong(_) => Error::TimedOut {
                peer,
                phase,
                limit: self.settings.timeout,
                hint: if last.is_empty() {
                    ": it showed nothing, even after Return; is it the right port, and is the \
                     device on? A slow one needs a longer `timeout`"
                        .to_owned()
                } else if phase == Phase::Prompt && self.asks_for_login(&last) {
                    format!(": it asks `{last}` after the login: set `line_password`")
                } else if self.is_prompt_like(&last) {
                    format!(
                        ": it did not answer at its prompt, `{last}`, in time; a slow link or a busy device \
                         needs a longer `timeout`"
                    )
                } else {
                    let last = one_line(&last);
                    format!(": its last line, `{last}`, is not a prompt of this dialect")
                },
            },
            Interruption::Unanswered(question) | Interruption::PerhapsAnswered(question)
                if self.asks_for_login(&question) =>
            {
                Error::Setting {
                    setting: "line_password",
                    problem: format!("is not set, and {peer} asks `{question}` after the login"),
                }
            }
            why => self.interrupted(&phase.to_string(), why, &text),
        }
    }

    fn asks_for_login(&self, line: &str) -> bool {
        let asked = &self.settings.dialect.authentication;
        [&asked.user_prompt, &asked.password_prompt]
            .iter()
            .any(|pattern| pattern.is_found_in(line))
    }
}

/// Returns whether a login failed because it was refused: the device asks for it again, or closed the
/// connection after the password.
fn is_refusal(why: &Interruption, questions: &[Question<'_>]) -> bool {
    match why {
        Interruption::Asked(line) => questions.iter().any(|asked| asked.is_credential(line)),
        Interruption::Lost => questions.iter().any(Question::has_sent_secret),
        _ => false,
    }
}
