//! Splits a text into tokens.

use devgate_schemas::Value;

use super::fault::Fault;
use super::token::{Token, TokenKind};

/// Operators and punctuation. Longer symbols come before their prefixes.
const SYMBOLS: [&str; 45] = [
    "<<|", "|>>", "<|", "|>", "->", "~>", "<-", "<~", "=>", "+>", "==", "=~", "!=", "!~", "+=",
    "-=", "<=", ">=", "<<", ">>", "@@", "@", "{", "}", "[", "]", "(", ")", ",", ";", ":", "=", "?",
    "|", ".", "+", "-", "*", "/", "%", "!", "<", ">", "~", "$",
];

/// Returns all tokens of a text. The last is its end.
///
/// # Errors
/// Fails for an invalid or unterminated token.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer::new(text, 0);
    lexer.run(false)?;
    Ok(lexer.tokens)
}

/// The lexer: its position in the text, and the tokens so far.
pub(super) struct Lexer<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// The position after the heredocs whose tags are on the current line.
    pub(super) after_heredocs: Option<usize>,
    pub(super) tokens: Vec<Token>,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        Self {
            text,
            at,
            after_heredocs: None,
            tokens: Vec::new(),
        }
    }

    /// Reads to the end of the text or, within an interpolation, to its closing brace.
    pub(super) fn run(&mut self, is_interpolated: bool) -> Result<(), Fault> {
        let begun = self.at;
        let mut depth = 0_usize;
        while self.at < self.text.len() {
            match self.rest().chars().next() {
                Some('{') => depth += 1,
                Some('}') if is_interpolated && depth == 0 => {
                    self.push(TokenKind::End, self.at);
                    self.at += 1;
                    return Ok(());
                }
                Some('}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.token()?;
        }
        if is_interpolated {
            return Err(Fault::new(begun, "`${` is not closed by `}`"));
        }
        self.push(TokenKind::End, self.at);
        Ok(())
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn push(&mut self, kind: TokenKind, offset: usize) {
        self.tokens.push(Token { kind, offset });
    }

    fn token(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let first = rest.chars().next().expect("there is more");
        match first {
            '\n' => self.at = self.after_heredocs.take().unwrap_or(self.at + 1),
            _ if first.is_whitespace() || first == '\u{feff}' => self.at += first.len_utf8(),
            '#' => self.at += rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => match rest.find("*/") {
                Some(end) if end > 1 => self.at += end + 2,
                _ => return Err(Fault::new(self.at, "the comment is not closed by `*/`")),
            },
            '\'' => self.single_quoted()?,
            '"' => self.double_quoted()?,
            '@' if rest[1..].trim_start_matches([' ', '\t']).starts_with('(') => self.heredoc()?,
            '0'..='9' => self.number()?,
            '$' if variable_length(&rest[1..]) > 0 => {
                let length = variable_length(&rest[1..]);
                let name = rest[1..=length].trim_start_matches("::").to_owned();
                self.push(TokenKind::Variable(name), self.at);
                self.at += 1 + length;
            }
            'a'..='z' | 'A'..='Z' | '_' => self.word(),
            ':' if starts_word(rest.strip_prefix("::").unwrap_or_default()) => self.word(),
            _ => self.symbol()?,
        }
        Ok(())
    }

    /// Reads a name or a type's name of segments between double colons. Names may contain dashes.
    fn word(&mut self) {
        let rest = self.rest();
        let leading = if rest.starts_with("::") { 2 } else { 0 };
        let mut end = leading;
        loop {
            let word = word_length(&rest[end..], |c| c == '-');
            end += rest[end..end + word].trim_end_matches('-').len();
            match rest[end..].strip_prefix("::") {
                Some(more) if starts_word(more) => end += 2,
                _ => break,
            }
        }
        let word = rest[leading..end].to_owned();
        let kind = match word.starts_with(|first: char| first.is_ascii_uppercase()) {
            true => TokenKind::TypeName(word),
            false => TokenKind::Name(word),
        };
        self.push(kind, self.at);
        self.at += end;
    }

    /// Reads integers (decimal, octal with a leading 0, hexadecimal with 0x) and fractions.
    fn number(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let word = |from: usize| from + word_length(&rest[from..], |_| false);
        let mut end = word(0);
        if rest[end..].starts_with('.') && rest[end + 1..].starts_with(|c: char| c.is_ascii_digit())
        {
            end = word(end + 1);
        }
        if rest[..end].ends_with(['e', 'E']) && rest[end..].starts_with(['-', '+']) {
            end = word(end + 1);
        }
        let number = &rest[..end];
        let is_hexadecimal = number.starts_with("0x") || number.starts_with("0X");
        let is_octal = number.len() > 1 && number.bytes().all(|byte| byte.is_ascii_digit());
        let value = if is_hexadecimal {
            i64::from_str_radix(&number[2..], 16)
                .ok()
                .map(Value::Integer)
        } else if is_octal && number.starts_with('0') {
            i64::from_str_radix(number, 8).ok().map(Value::Integer)
        } else if number.contains(['.', 'e', 'E']) {
            let float = number.parse().ok().filter(|float: &f64| float.is_finite());
            float.map(Value::Float)
        } else {
            number.parse().ok().map(Value::Integer)
        };
        match value {
            Some(value) if !rest[end..].starts_with('.') => {
                self.push(TokenKind::Number(value), self.at);
                self.at += end;
                Ok(())
            }
            _ => Err(Fault::new(
                self.at,
                "expected a number: addresses, and all other texts that begin with a digit, stand in quotes",
            )),
        }
    }

    fn symbol(&mut self) -> Result<(), Fault> {
        let symbol = SYMBOLS
            .into_iter()
            .find(|symbol| self.rest().starts_with(symbol));
        let Some(symbol) = symbol else {
            let message =
                "this character means nothing in Puppet's language: texts stand in quotes";
            return Err(Fault::new(self.at, message));
        };
        self.push(TokenKind::Symbol(symbol), self.at);
        self.at += symbol.len();
        Ok(())
    }
}

/// Returns the length of the word at the start of a text: letters, digits, underscores, and the characters in `also`.
fn word_length(text: &str, also: impl Fn(char) -> bool) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && !also(c))
        .unwrap_or(text.len())
}

fn starts_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Returns the length of a variable's name, without its `$`.
pub(super) fn variable_length(text: &str) -> usize {
    let mut end = if text.starts_with("::") { 2 } else { 0 };
    loop {
        let word = word_length(&text[end..], |_| false);
        if word == 0 {
            return end.saturating_sub(2);
        }
        end += word;
        if !text[end..].starts_with("::") {
            return end;
        }
        end += 2;
    }
}
