//! Sessions with a command line that is meant for people: commands at a prompt, over any byte stream.
//!
//! **The end of a command is proven, not guessed.** A terminal does not mark the end of an answer.
//! It only shows a prompt again, and an answer may contain a line that looks exactly like the prompt,
//! followed by a pause of any length. Waiting for more output only postpones the guess. Therefore:
//!
//! 1. When the session opens, the exact prompt is learnt, with the text between two prompts, and how
//!    the device shows what is typed ([`editor`]).
//! 2. Nothing counts as output before the device has echoed the command. So text that was already on
//!    its way (log messages, late answers) is not mistaken for output. Whether a device echoes is
//!    known from the beginning, so silence is never taken for a missing echo.
//! 3. When the last line is the prompt, blanks are typed and erased at once, without Enter
//!    ([`editor_probe`]). If a line editor reads them, the line grows by as many columns and shrinks again,
//!    which no output does. If anything else follows, the line was output. The typed blanks then wait
//!    in the device's input and mark the true end.
//! 4. A device without a line editor shows the blanks and cannot erase them. There, the blanks are
//!    awaited before Enter is pressed, and the prompt must come twice ([`proof`]). The first line that
//!    looks like a prompt is checked in this way, too, because it may be a line of the greeting. On a
//!    device that shows nothing, the prompt must be followed by another prompt and nothing else, and by
//!    silence, or by the text with which the device answers each empty line ([`gap`]).
//! 5. Nothing is sent while the last line is a question. With a line editor, input that is still on its
//!    way when a question comes cannot be consent: there is no Enter, and the first key is a control
//!    character. A question that came meanwhile is always an error, because it is unknown what the
//!    device took for its answer.
//! 6. After any doubt (silence, a lost connection, too much output, a missing prompt), the session is
//!    abandoned, so that no answer is attributed to the wrong command. Time alone decides nothing: late
//!    output is waited for, up to the configured limits.
//!
//! Two cases remain. A device without an editor and without echo can only be probed with Enter, so it
//! is probed after a pause. A pager may take a probe for a key. That is an error, too, and from then on
//! such a session is probed after a pause.
//!
//! The cost is two round trips for each command, and one if the next command is known and both ask nothing: it
//! then travels with the probe ([`ahead`]). Configuration lines cost none: the echo of each line
//! behind the prompt proves that the previous line has ended. So several of them may travel together
//! ([`window`]). The command that leaves configuration mode is proven as above, and so is each command of a
//! commit ([`candidate`]).
//!
//! Only the last line is searched, and each byte is examined once, so the cost grows linearly with the
//! output.

mod ahead;
mod alarm;
mod candidate;
pub(crate) mod commit;
mod configure;
mod confirm;
pub mod dialect;
mod echo;
mod editor;
mod editor_probe;
mod gap;
mod judge;
mod learn;
mod login;
mod modeless;
mod output;
mod pattern;
mod probe;
mod prompt;
mod prompt_behaviour;
mod proof;
mod question;
mod read;
mod run;
pub(crate) mod screen;
mod state;
mod text;
mod verdict;
mod wait;
mod window;

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;

pub(crate) use ahead::AMID_OUTPUT;
pub(crate) use confirm::{Confirmation, SecondLogin};
pub(crate) use login::{CliLogin, Credentials};
pub(crate) use state::{Cli, CliSettings};
