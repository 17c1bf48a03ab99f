//! Our own colours, kept apart from text of others. One place makes all printed text harmless, and adds the colours
//! afterwards.
//!
//! A text contains marks where a colour begins and ends. Nobody can forge them, because they contain a random number of
//! this process.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::sync::LazyLock;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use devgate_schemas::visible;

/// A colour in a printed text: `{GOOD}Finished{GOOD:#}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// The default of the terminal.
    Plain,
    /// Bold.
    Bold,
    /// Grey, for what is less important.
    Grey,
    /// Red.
    Red,
    /// Green.
    Green,
    /// Yellow.
    Yellow,
    /// Cyan.
    Cyan,
}

const ALL: [Paint; 7] = [
    Paint::Plain,
    Paint::Bold,
    Paint::Grey,
    Paint::Red,
    Paint::Green,
    Paint::Yellow,
    Paint::Cyan,
];

/// What went wrong.
pub const BAD: Paint = Paint::Red;
/// What went well.
pub const GOOD: Paint = Paint::Green;

/// The delimiters of a mark: noncharacters (Unicode, 23.7).
const OPEN: char = '\u{fdd0}';
const CLOSE: char = '\u{fdd1}';

static NUMBER: LazyLock<String> =
    LazyLock::new(|| format!("{:016x}", RandomState::new().hash_one("paint")));

impl Paint {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Bold => Style::new().bold(),
            Self::Grey => AnsiColor::BrightBlack.on_default(),
            Self::Red => AnsiColor::Red.on_default(),
            Self::Green => AnsiColor::Green.on_default(),
            Self::Yellow => AnsiColor::Yellow.on_default(),
            Self::Cyan => AnsiColor::Cyan.on_default(),
        }
    }
}

/// Writes the mark of the colour. The alternate form is its end, as in `anstyle`.
impl fmt::Display for Paint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if f.alternate() { "/" } else { "" };
        write!(f, "{OPEN}{}{end}{self:?}{CLOSE}", *NUMBER)
    }
}

/// A text for printing: with our colours, and without other control sequences.
pub fn painted(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for piece in text.split_inclusive(CLOSE) {
        match piece
            .rsplit_once(OPEN)
            .and_then(|(text, mark)| Some((text, style(mark)?)))
        {
            Some((text, style)) => {
                output.push_str(&visible(text));
                output.push_str(&style);
            }
            None => output.push_str(&visible(piece)),
        }
    }
    output
}

/// A painted text for a stream: with colours, or without.
pub fn for_stream(painted: &str, choice: ColorChoice) -> Vec<u8> {
    let mut stream = AutoStream::new(Vec::with_capacity(painted.len()), choice);
    stream
        .write_all(painted.as_bytes())
        .expect("memory takes what is written");
    stream.into_inner()
}

/// Parses a mark, if it is one of ours.
fn style(mark: &str) -> Option<String> {
    let mark = mark.strip_prefix(NUMBER.as_str())?.strip_suffix(CLOSE)?;
    let (is_end, name) = match mark.strip_prefix('/') {
        Some(name) => (true, name),
        None => (false, mark),
    };
    let style = ALL
        .iter()
        .find(|paint| format!("{paint:?}") == name)?
        .style();
    Some(if is_end {
        format!("{style:#}")
    } else {
        format!("{style}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_colours_are_colours_and_those_of_others_are_shown() {
        let text = format!("{BAD}a\u{1b}[32mb{BAD:#}\n\u{9b}1m");
        assert_eq!(
            painted(&text),
            "\u{1b}[31ma\\u001b[32mb\u{1b}[0m\n\\u009b1m"
        );
    }

    #[test]
    fn a_mark_cannot_be_forged() {
        let forged = format!("{OPEN}{:016x}Red{CLOSE}a{OPEN}{CLOSE}", 7);
        assert_eq!(painted(&forged), forged);
    }
}
