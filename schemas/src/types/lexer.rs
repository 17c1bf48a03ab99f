//! Splits the text of a type into the tokens of the Puppet language.
//!
//! Specification: "Puppet language: lexical matters". The texts and columns of errors are Puppet's.

mod number;
mod quoted;

use super::error::Fault;
use super::pattern::Pattern;

/// A token with its byte range.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The text that error messages show for the token.
    pub(super) text: String,
    pub(super) offset: usize,
    pub(super) end: usize,
}

/// The kinds of tokens that the grammar distinguishes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Name,
    Word,
    Reference,
    Number,
    Text,
    Regexp(Pattern),
    Variable,
    /// A double-quoted text with an interpolation.
    Interpolated,
    Keyword,
    Boolean,
    /// A `[` after a blank: it starts a list and never follows an expression.
    ListStart,
    Symbol,
    /// The place where the text stops being valid Puppet. It becomes an error only when the parser reaches
    /// it, because an earlier part may be wrong too.
    Fault(Fault),
    End,
}

/// The reserved words, apart from the booleans.
const KEYWORDS: [&str; 18] = [
    "case", "class", "default", "define", "if", "elsif", "else", "inherits", "node", "and", "or",
    "undef", "in", "unless", "function", "type", "attr", "private",
];

/// Operators and punctuation of several characters, longest first.
const LONG_SYMBOLS: [&str; 21] = [
    "<<|", "|>>", "==", "=>", "=~", "+=", "+>", "->", "-=", "!=", "!~", "~>", "<<", "<=", "<|",
    "<-", "<~", ">>", ">=", "|>", "@@",
];

/// Operators and punctuation of one character.
const SYMBOLS: &str = ".,[]();?*%{}@|=+-!~/<>:";

/// Splits a text into tokens. The last one is the end or the fault that stopped the lexer.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        at: 0,
        tokens: Vec::new(),
    };
    while lexer.at < text.len() {
        if let Err(fault) = lexer.token() {
            lexer.push(TokenKind::Fault(fault), String::new(), lexer.at);
            return lexer.tokens;
        }
    }
    lexer.push(TokenKind::End, String::new(), text.len());
    lexer.tokens
}

/// Returns the length of the rest of the line.
fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Returns the number of word characters with which the text starts.
fn word_length(text: &str) -> usize {
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

/// Whether a character is a word character: an ASCII letter, a digit or an underscore.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Adds a token from `offset` to the current position.
    fn push(&mut self, kind: TokenKind, text: String, offset: usize) {
        self.tokens.push(Token {
            kind,
            text,
            offset,
            end: self.at,
        });
    }

    fn fault(&self, message: impl Into<String>, at: usize) -> Fault {
        Fault::syntax_at(message, self.text, at)
    }

    fn token(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let Some(first) = self.rest().chars().next() else {
            return Ok(());
        };
        match first {
            ' ' | '\t' | '\r' | '\n' => self.at += 1,
            '#' => self.at += line_length(self.rest()),
            '\'' => self.single_quoted()?,
            '"' => self.double_quoted()?,
            '/' if self.rest().starts_with("/*") => match self.rest().find("*/").filter(|e| *e > 1)
            {
                Some(end) => self.at += end + 2,
                None => return Err(self.fault("Unclosed multiline comment", offset)),
            },
            '/' if self.regexp_may_follow() => {
                if !self.regexp()? {
                    self.symbol('/');
                }
            }
            '$' => self.variable(),
            '0'..='9' => self.number()?,
            'A'..='Z' => self.reference()?,
            'a'..='z' | '_' => self.name()?,
            ':' if self.rest().starts_with("::") => self.qualified()?,
            other if other.is_whitespace() => self.at += other.len_utf8(),
            _ => self.symbol(first),
        }
        Ok(())
    }

    fn symbol(&mut self, first: char) {
        let offset = self.at;
        let long = LONG_SYMBOLS
            .iter()
            .find(|symbol| self.rest().starts_with(**symbol));
        let text = long.map_or_else(|| first.to_string(), |symbol| (*symbol).to_owned());
        let before = self.text[..offset].chars().next_back();
        let kind = match first {
            '[' if before.is_none_or(char::is_whitespace) => TokenKind::ListStart,
            _ => TokenKind::Symbol,
        };
        self.at += text.len();
        // Puppet shows nothing for an unknown character.
        let text = if SYMBOLS.contains(first) {
            text
        } else {
            String::new()
        };
        self.push(kind, text, offset);
    }

    /// Whether a regular expression may follow: it cannot stand where a division can.
    fn regexp_may_follow(&self) -> bool {
        self.tokens.last().is_none_or(|last| match &last.kind {
            TokenKind::Symbol => !matches!(last.text.as_str(), ")" | "]" | "|>" | "|>>"),
            TokenKind::Keyword | TokenKind::ListStart => true,
            _ => false,
        })
    }

    /// Reads a type's name: capitalised segments separated by double colons.
    fn reference(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let mut end = 0;
        loop {
            let segment = &self.rest()[end..];
            let from = if segment.starts_with("::") { 2 } else { 0 };
            if (from == 0 && end > 0)
                || !segment[from..].starts_with(|c: char| c.is_ascii_uppercase())
            {
                break;
            }
            end += from;
            end += word_length(&self.rest()[end..]);
        }
        if self.rest()[end..].starts_with("::") {
            return Err(if self.rest().starts_with("::") {
                self.fault("Illegal fully qualified class reference", offset + end + 3)
            } else {
                self.fault("Illegal class reference", offset + end + 1)
            });
        }
        let name = self.rest()[..end].to_owned();
        self.at += end;
        self.push(TokenKind::Reference, name, offset);
        Ok(())
    }

    fn qualified(&mut self) -> Result<(), Fault> {
        match self.rest()[2..].chars().next() {
            Some('A'..='Z') => self.reference(),
            Some('a'..='z' | '_') => self.name(),
            _ => Err(self.fault("Illegal fully qualified name", self.at + 2)),
        }
    }

    /// Reads a name, a keyword, or a bare word with dashes or a leading underscore.
    fn name(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let rest = self.rest();
        let mut end = 0;
        loop {
            let from = if rest[end..].starts_with("::") { 2 } else { 0 };
            if (from == 0 && end > 0)
                || !rest[end + from..].starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
            {
                break;
            }
            end += from;
            let stop = rest[end..]
                .find(|c| !is_word(c) && c != '-')
                .unwrap_or(rest.len() - end);
            end += rest[end..end + stop].trim_end_matches('-').len();
        }
        let name = rest[..end].to_owned();
        self.at += end;
        let is_name = name
            .trim_start_matches("::")
            .split("::")
            .all(|segment| !segment.starts_with('_') && !segment.contains('-'));
        let kind = match name.as_str() {
            "true" | "false" => TokenKind::Boolean,
            keyword if KEYWORDS.contains(&keyword) => TokenKind::Keyword,
            _ if is_name => TokenKind::Name,
            _ => TokenKind::Word,
        };
        self.push(kind, name, offset);
        Ok(())
    }
}
