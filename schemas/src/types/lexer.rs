//! Cuts the text of a type into the tokens of the Puppet language.
//!
//! Spec: "Puppet language: lexical matters"; texts and columns of errors are Puppet's.

use super::error::Fault;

/// A token and where it stands, in bytes.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// What an error message shows of it.
    pub(super) text: String,
    pub(super) offset: usize,
    pub(super) end: usize,
}

/// The kinds of tokens that the grammar tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Word,
    Reference,
    Number,
    Text,
    Regexp,
    Variable,
    /// A double-quoted text with an interpolation inside.
    Interpolated,
    Keyword,
    Boolean,
    /// `[` after a blank: it starts a list and never follows an expression.
    ListStart,
    Symbol,
    End,
}

/// The reserved words, apart from the booleans.
const KEYWORDS: [&str; 18] = [
    "case", "class", "default", "define", "if", "elsif", "else", "inherits", "node", "and", "or",
    "undef", "in", "unless", "function", "type", "attr", "private",
];

/// Longest first, so that the first that fits is the right one.
const SYMBOLS: [&str; 50] = [
    "<<|", "|>>", "==", "=>", "=~", "+=", "+>", "->", "-=", "!=", "!~", "~>", "<<", "<=", "<|",
    "<-", "<~", ">>", ">=", "|>", "@@", ".", ",", "[", "]", "(", ")", ";", "?", "*", "%", "{", "}",
    "@", "|", "=", "+", "-", "!", "~", "/", "<", ">", ":", "&", "^", "`", "\\", "\u{0}", "\u{7f}",
];

/// All tokens of the text, the last being the end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer {
        text,
        at: 0,
        tokens: Vec::new(),
    };
    while lexer.at < text.len() {
        lexer.token()?;
    }
    lexer.push(Kind::End, String::new(), text.len());
    Ok(lexer.tokens)
}

/// Whether a character is a letter, digit or underscore of a name.
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

    /// Adds a token from `offset` to the present place.
    fn push(&mut self, kind: Kind, text: String, offset: usize) {
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
            '#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            '\'' => self.single_quoted()?,
            '"' => self.double_quoted()?,
            '/' if self.rest().starts_with("/*") => match self.rest().find("*/").filter(|e| *e > 1)
            {
                Some(end) => self.at += end + 2,
                None => return Err(self.fault("Unclosed multiline comment", offset)),
            },
            '/' if self.regexp_may_follow() && self.regexp() => {}
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
        let found = SYMBOLS
            .iter()
            .find(|symbol| self.rest().starts_with(**symbol));
        let text = found.map_or_else(|| first.to_string(), |symbol| (*symbol).to_owned());
        let before = self.text[..offset].chars().next_back();
        let kind = match first {
            '[' if before.is_none_or(char::is_whitespace) => Kind::ListStart,
            _ => Kind::Symbol,
        };
        self.at += text.len();
        // Puppet peeks at no byte of what it does not know, and so shows none.
        self.push(
            kind,
            if found.is_some() { text } else { String::new() },
            offset,
        );
    }

    /// A regular expression cannot stand where a division can.
    fn regexp_may_follow(&self) -> bool {
        self.tokens.last().is_none_or(|last| match last.kind {
            Kind::Symbol => !matches!(last.text.as_str(), ")" | "]" | "|>" | "|>>"),
            Kind::Keyword | Kind::ListStart => true,
            _ => false,
        })
    }

    /// Takes a regular expression; `false` if no slash ends it.
    fn regexp(&mut self) -> bool {
        let offset = self.at;
        let mut escaped = false;
        let mut source = String::new();
        for (at, c) in self.text[offset + 1..].char_indices() {
            match c {
                '/' if !escaped => {
                    self.at = offset + 1 + at + 1;
                    self.push(Kind::Regexp, source, offset);
                    return true;
                }
                '/' => {
                    source.pop();
                    source.push('/');
                }
                other => source.push(other),
            }
            escaped = c == '\\' && !escaped;
        }
        false
    }

    fn variable(&mut self) {
        let offset = self.at;
        let name = variable_name(&self.rest()[1..]).to_owned();
        self.at += 1 + name.len();
        self.push(Kind::Variable, name, offset);
    }

    /// Spec: numbers are decimal, octal with a leading 0, hexadecimal with 0x, or have a fraction.
    fn number(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let word: usize = self
            .rest()
            .find(|c| !is_word(c))
            .unwrap_or(self.rest().len());
        let mut end = word;
        if !self.rest().starts_with("0x") && !self.rest().starts_with("0X") {
            let digits = |from: usize| {
                let rest = &self.rest()[from..];
                rest.find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len())
            };
            end = digits(0);
            let rest = &self.rest()[end..];
            if rest.starts_with('.') && digits(end + 1) > 0 {
                end += 1 + digits(end + 1);
            }
            if self.rest()[end..].starts_with(['e', 'E']) {
                let sign = usize::from(self.rest()[end + 1..].starts_with('-'));
                if digits(end + 1 + sign) > 0 {
                    end += 1 + sign + digits(end + 1 + sign);
                }
            }
            end += self.rest()[end..]
                .find(|c| !is_word(c))
                .unwrap_or(self.rest().len() - end);
        }
        let number = self.rest()[..end].to_owned();
        if let Some(message) = fault_of_number(&number) {
            return Err(self.fault(message, offset));
        }
        self.at += end;
        self.push(Kind::Number, number, offset);
        Ok(())
    }

    /// A type's name: capitalised segments between double colons.
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
            end += self.rest()[end..]
                .find(|c| !is_word(c))
                .unwrap_or(self.rest().len() - end);
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
        self.push(Kind::Reference, name, offset);
        Ok(())
    }

    fn qualified(&mut self) -> Result<(), Fault> {
        match self.rest()[2..].chars().next() {
            Some('A'..='Z') => self.reference(),
            Some('a'..='z' | '_') => self.name(),
            _ => Err(self.fault("Illegal fully qualified name", self.at + 2)),
        }
    }

    /// A name or keyword, or a bare word with dashes or a leading underscore.
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
            "true" | "false" => Kind::Boolean,
            keyword if KEYWORDS.contains(&keyword) => Kind::Keyword,
            _ if is_name => Kind::Name,
            _ => Kind::Word,
        };
        self.push(kind, name, offset);
        Ok(())
    }

    fn single_quoted(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let mut value = String::new();
        let mut chars = self.text[offset + 1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\'' => {
                    self.at = offset + 1 + at + 1;
                    self.push(Kind::Text, value, offset);
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
        Err(self.unclosed("\"'\"", offset))
    }

    fn double_quoted(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        let mut value = String::new();
        let mut kind = Kind::Text;
        let mut at = offset + 1;
        while let Some(c) = self.text[at..].chars().next() {
            at += c.len_utf8();
            match c {
                '"' => {
                    self.at = at;
                    self.push(kind, value, offset);
                    return Ok(());
                }
                '\\' => at += unescape(&self.text[at..], &mut value),
                '$' if self.text[at..].starts_with('{')
                    || !variable_name(&self.text[at..]).is_empty() =>
                {
                    kind = Kind::Interpolated;
                    value.push('$');
                }
                other => value.push(other),
            }
        }
        Err(self.unclosed("'\"'", offset))
    }

    /// Puppet shows the next characters and the place after the quote.
    fn unclosed(&self, quote: &str, offset: usize) -> Fault {
        let rest = &self.text[offset + 1..];
        let followed = if rest.is_empty() {
            "<eof>".to_owned()
        } else {
            let start: String = rest.chars().take(5).collect();
            start
                .replace('\t', "\\t")
                .replace('\n', "\\n")
                .replace('\r', "\\r")
                + "..."
        };
        self.fault(
            format!("Unclosed quote after {quote} followed by '{followed}'"),
            offset + 1,
        )
    }
}

/// The name of a variable at the start of the text, empty if there is none.
fn variable_name(text: &str) -> &str {
    let mut end = if text.starts_with("::") { 2 } else { 0 };
    loop {
        let rest = &text[end..];
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if word == 0 {
            return text[..end].trim_end_matches("::");
        }
        end += word;
        if !text[end..].starts_with("::") {
            return &text[..end];
        }
        end += 2;
    }
}

/// What is wrong with a number, in Puppet's words.
fn fault_of_number(number: &str) -> Option<String> {
    let all = |text: &str, is: fn(&char) -> bool| !text.is_empty() && text.chars().all(|c| is(&c));
    let mut chars = number.chars();
    let (first, second) = (chars.next(), chars.next());
    if first == Some('0') && matches!(second, Some('x' | 'X')) {
        let wrong = !all(&number[2..], char::is_ascii_hexdigit);
        return wrong.then(|| format!("Not a valid hex number {number}"));
    }
    if first == Some('0') && second.is_some_and(|c| c != '.') {
        let wrong = !all(number, |c| matches!(c, '0'..='7'));
        return wrong.then(|| format!("Not a valid octal number {number}"));
    }
    let digits = number
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(number.len());
    if number[digits..].starts_with(['e', 'E', '.']) {
        let (mantissa, exponent) = match number.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (number, None),
        };
        let fraction = mantissa.split_once('.').map(|(_, fraction)| fraction);
        let sound = fraction.is_none_or(|digits| all(digits, char::is_ascii_digit))
            && exponent.is_none_or(|text| {
                all(text.strip_prefix('-').unwrap_or(text), char::is_ascii_digit)
            });
        return (!sound).then(|| format!("Not a valid decimal number {number}"));
    }
    (digits < number.len()).then(|| format!("Illegal number '{number}'"))
}

/// Takes one escape after its backslash; how many bytes it was.
fn unescape(rest: &str, value: &mut String) -> usize {
    let Some(c) = rest.chars().next() else {
        return 0;
    };
    match c {
        'n' => value.push('\n'),
        'r' => value.push('\r'),
        't' => value.push('\t'),
        's' => value.push(' '),
        '\\' | '$' | '\'' | '"' => value.push(c),
        '\n' => {}
        'u' => {
            let hex = match rest[1..].strip_prefix('{') {
                Some(inner) => inner.split_once('}').map(|(hex, _)| (hex, hex.len() + 3)),
                None => rest.get(1..5).map(|hex| (hex, 5)),
            };
            if let Some((digits, length)) = hex
                && let Some(unicode) = u32::from_str_radix(digits, 16)
                    .ok()
                    .and_then(char::from_u32)
            {
                value.push(unicode);
                return length;
            }
            value.push_str("\\u");
        }
        other => value.extend(['\\', other]),
    }
    c.len_utf8()
}
