//! Reads texts: in single quotes, in double quotes, and heredocs.

use super::fault::Fault;
use super::lexer::{Lexer, variable_length};
use super::token::{Piece, Token, TokenKind};

/// The escapes in double quotes, and in a heredoc with `/`.
const ESCAPES: &str = "nrtsuL$";

/// The escapes of a text, and whether variables are interpolated.
#[derive(Clone, Copy)]
struct EscapeRules<'m> {
    escapes: &'m str,
    quotes: bool,
    interpolates: bool,
}

impl Lexer<'_> {
    pub(super) fn single_quoted(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let mut value = String::new();
        let mut chars = self.text[offset + 1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\'' => {
                    self.at = offset + 1 + at + 1;
                    self.push(TokenKind::Text(vec![Piece::Literal(value)]), offset);
                    return Ok(());
                }
                '\\' => match chars.next() {
                    Some((_, escaped @ ('\\' | '\''))) => value.push(escaped),
                    Some((_, other)) => value.extend(['\\', other]),
                    None => break,
                },
                other => value.push(other),
            }
        }
        Err(Fault::new(offset, "the text is not closed by `'`"))
    }

    pub(super) fn double_quoted(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let rules = EscapeRules {
            escapes: ESCAPES,
            quotes: true,
            interpolates: true,
        };
        let mut pieces = Vec::new();
        self.at += 1;
        self.pieces(self.text.len(), rules, &mut pieces)?;
        if self.at == self.text.len() {
            return Err(Fault::new(offset, "the text is not closed by `\"`"));
        }
        self.at += 1;
        self.push(TokenKind::Text(pieces), offset);
        Ok(())
    }

    /// Reads a heredoc: `@(TAG)`, `@("TAG")` with variables, `@(TAG:syntax/escapes)`. The text is on the next lines, up
    /// to `TAG`. There, `|` gives the margin to remove, and `-` removes the last line end.
    pub(super) fn heredoc(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let open = self.rest().find('(').expect("it was seen") + 1;
        let line = self.rest().find('\n').unwrap_or_else(|| self.rest().len());
        let header = self.rest()[open..line]
            .find(')')
            .map(|end| &self.rest()[open..open + end]);
        let Some(header) = header else {
            return Err(Fault::new(offset, "expected `@(TAG)`"));
        };
        self.at += open + header.len() + 1;
        let (header, escapes) = match header.split_once('/') {
            Some((header, "")) => (header, ESCAPES),
            Some((header, escapes)) => (header, escapes.trim()),
            None => (header, ""),
        };
        let tag = header.split(':').next().unwrap_or_default().trim();
        let quoted = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
        let rules = EscapeRules {
            escapes,
            quotes: false,
            interpolates: quoted.is_some(),
        };
        let tag = quoted.unwrap_or(tag).trim();
        let resume = self.at;
        let begin = self.after_heredocs.unwrap_or(offset + line + 1);
        let mut pieces = Vec::new();
        let mut from = begin;
        for line in self
            .text
            .get(begin..)
            .unwrap_or_default()
            .split_inclusive('\n')
        {
            let Some(end) = End::of(line, tag) else {
                from += line.len();
                continue;
            };
            let mut at = begin;
            for line in self.text[begin..from].split_inclusive('\n') {
                let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
                self.at = at + blank.min(end.margin);
                at += line.len();
                self.pieces(at, rules, &mut pieces)?;
            }
            if end.is_trimmed {
                trim(&mut pieces);
            }
            self.after_heredocs = Some(from + line.len());
            self.at = resume;
            self.push(TokenKind::Text(pieces), offset);
            return Ok(());
        }
        let message = format!("the heredoc is not ended by a line `{tag}`");
        Err(Fault::new(offset, message))
    }

    /// Reads the pieces of a text up to `stop`, or to its closing quote.
    fn pieces(
        &mut self,
        stop: usize,
        rules: EscapeRules<'_>,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Fault> {
        while self.at < stop {
            let rest = &self.text[self.at..stop];
            let c = rest.chars().next().expect("there is more");
            let variable = variable_length(&rest[c.len_utf8()..]);
            match c {
                '"' if rules.quotes => return Ok(()),
                '\\' => {
                    let length = escape(&rest[1..], rules, pieces);
                    self.at += 1 + length;
                }
                '$' if rules.interpolates && rest.starts_with("${") => {
                    let mut inner = Lexer::new(self.text, self.at + 2);
                    inner.run(true)?;
                    if inner.at > stop {
                        let message = "what is interpolated into a heredoc stands on one line";
                        return Err(Fault::new(self.at, message));
                    }
                    self.at = inner.at;
                    pieces.push(Piece::Code(inner.tokens));
                }
                '$' if rules.interpolates && variable > 0 => {
                    let name = rest[1..=variable].trim_start_matches("::").to_owned();
                    let offset = self.at;
                    self.at += 1 + variable;
                    pieces.push(Piece::Code(vec![
                        Token {
                            kind: TokenKind::Variable(name),
                            offset,
                        },
                        Token {
                            kind: TokenKind::End,
                            offset,
                        },
                    ]));
                }
                other => {
                    literal(pieces).push(other);
                    self.at += other.len_utf8();
                }
            }
        }
        Ok(())
    }
}

/// The line that ends a heredoc.
struct End {
    margin: usize,
    is_trimmed: bool,
}

impl End {
    fn of(line: &str, tag: &str) -> Option<Self> {
        let before = line.trim_end().strip_suffix(tag)?;
        let marks: String = before.chars().filter(|c| !c.is_whitespace()).collect();
        let margin = match marks.as_str() {
            "" | "-" => 0,
            // The text before the bar is the margin.
            "|" | "|-" => before.find('|')?,
            _ => return None,
        };
        let is_trimmed = marks.ends_with('-');
        Some(Self { margin, is_trimmed })
    }
}

/// Returns the literal text at the end of the pieces.
fn literal(pieces: &mut Vec<Piece>) -> &mut String {
    if !matches!(pieces.last(), Some(Piece::Literal(_))) {
        pieces.push(Piece::Literal(String::new()));
    }
    match pieces.last_mut() {
        Some(Piece::Literal(text)) => text,
        _ => unreachable!("it was pushed just now"),
    }
}

/// Removes the end of the last line.
fn trim(pieces: &mut [Piece]) {
    if let Some(Piece::Literal(text)) = pieces.last_mut()
        && text.ends_with('\n')
    {
        text.pop();
    }
}

/// Reads one escape after its backslash, and returns its length in bytes. Unknown escapes stay as they are.
fn escape(rest: &str, rules: EscapeRules<'_>, pieces: &mut Vec<Piece>) -> usize {
    let value = literal(pieces);
    let Some(c) = rest.chars().next() else {
        value.push('\\');
        return 0;
    };
    let knows = |letter: char| rules.escapes.contains(letter);
    let unescaped = match c {
        'n' | 'r' | 't' | 's' | '$' | 'u' if !knows(c) => None,
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        's' => Some(' '),
        '$' => Some('$'),
        '\\' if !rules.escapes.is_empty() => Some('\\'),
        '"' | '\'' if rules.quotes => Some(c),
        '\n' if knows('L') => return 1,
        'u' => {
            let (digits, length) = match rest[1..].strip_prefix('{') {
                Some(inner) => inner
                    .split_once('}')
                    .map_or(("", 0), |(hex, _)| (hex, hex.len() + 3)),
                None => (rest.get(1..5).unwrap_or_default(), 5),
            };
            let code = u32::from_str_radix(digits, 16).ok();
            if let Some(unicode) = code.and_then(char::from_u32) {
                value.push(unicode);
                return length;
            }
            None
        }
        _ => None,
    };
    match unescaped {
        Some(unescaped) => value.push(unescaped),
        None => value.extend(['\\', c]),
    }
    c.len_utf8()
}
