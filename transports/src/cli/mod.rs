//! Sessions with a command line meant for people: commands typed at a prompt, over any byte stream.
//!
//! **The end of a command is proven, not guessed.** A terminal does not say where an answer ends;
//! it only shows a prompt again, and an answer may contain a line that looks exactly like it, with
//! a pause of any length behind it. Waiting to see whether more comes only moves the guess. So:
//!
//! 1. The prompt is learnt to the letter when the session opens, with what stands between two of
//!    them, and how the device shows what is typed ([`editor`]).
//! 2. Nothing counts as output before the device has echoed the command, so that nothing on its way
//!    (log messages, late answers) is taken for output. Whether a device echoes is known from the
//!    beginning, so no silence is ever taken for a missing echo.
//! 3. When the last line is the prompt, blanks are typed and taken back at once, without Enter
//!    ([`touch`]). Where a line editor reads, the line grows by as many columns and comes back: no
//!    output does that. If anything else follows, that line was output; what was typed waits in the
//!    device's input and marks the true end.
//! 4. A device without a line editor shows the blanks and cannot take them back. There they are seen
//!    before Enter is pressed, and the prompt must come twice ([`proof`]). At the first line that looks
//!    like a prompt it is done so, too: it may be a line of the greeting. On a device that shows nothing,
//!    the prompt must be followed by another one and nothing else, and by silence, or by the text that it
//!    answers each time ([`gap`]).
//! 5. Nothing is sent where a question stands at the end. Where a line editor reads, what is still on
//!    its way when a question comes cannot be consent: no Enter, and the first key is a control
//!    character. A question that came meanwhile is an error in any case, since nobody knows what the
//!    device took for its answer.
//! 6. After any doubt (silence, a lost connection, too much output, a prompt that does not come) the
//!    session is given up, and no answer can reach the wrong question. Time alone decides nothing:
//!    what is late is waited for, up to the limits that people set.
//!
//! Two cases are left. A device without an editor and without echo can only be asked by Enter: it is
//! asked after a pause. A pager may take what was typed for a key: that is an error, too, and from
//! then on such a session asks after a pause.
//!
//! The price is a round trip for each command. Lines of configuration need none: each line's
//! echo behind the prompt proves that the one before has ended, and the command that leaves
//! configuration mode is proven as above.
//!
//! Only the last line is searched, and each byte is looked at once, so that ten megabytes cost ten
//! times what one costs.

mod alarm;
mod ask;
pub(crate) mod commit;
mod configure;
pub mod dialect;
mod echo;
mod editor;
mod gap;
mod judge;
mod learn;
mod login;
mod manner;
mod output;
mod pattern;
mod prompt;
mod proof;
mod question;
mod read;
mod run;
pub(crate) mod screen;
mod state;
mod touch;
mod verdict;
mod wait;

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;

pub(crate) use login::{Credentials, Login};
pub(crate) use state::{Cli, CliSettings};
