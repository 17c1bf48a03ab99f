//! The tokens of an XPath (XPath 1.0, 3.7).

/// A token, with as much detail as reading a path needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'p> {
    Slash,
    Slashes,
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    Dot,
    Dots,
    At,
    Comma,
    Literal,
    Number,
    Variable,
    Operator(&'p str),
    /// The name of a function.
    Function,
    /// `node`, `text` and similar ones, which are followed by parentheses.
    NodeType,
    /// An axis, with its `::`.
    Axis(&'p str),
    /// `*` or `prefix:*`.
    Every(Option<&'p str>),
    /// A name with its prefix, if any.
    Name(Option<&'p str>, &'p str),
}

const AXES: [&str; 13] = [
    "ancestor",
    "ancestor-or-self",
    "attribute",
    "child",
    "descendant",
    "descendant-or-self",
    "following",
    "following-sibling",
    "namespace",
    "parent",
    "preceding",
    "preceding-sibling",
    "self",
];

const NODE_TYPES: [&str; 4] = ["comment", "text", "processing-instruction", "node"];

/// The operators without letters. A longer one precedes any that it begins with.
const OPERATORS: [&str; 9] = ["!=", "<=", ">=", "|", "+", "-", "=", "<", ">"];

const NAMED_OPERATORS: [&str; 4] = ["and", "or", "mod", "div"];

impl Token<'_> {
    /// Returns the token as written, or a description of it.
    pub(super) fn shown(&self) -> String {
        let shown = match self {
            Self::Slash => "/",
            Self::Slashes => "//",
            Self::Open => "(",
            Self::Close => ")",
            Self::OpenBracket => "[",
            Self::CloseBracket => "]",
            Self::Dot => ".",
            Self::Dots => "..",
            Self::At => "@",
            Self::Comma => ",",
            Self::Literal => "a text",
            Self::Number => "a number",
            Self::Variable => "a variable",
            Self::Function => "a function",
            Self::NodeType => "a node type",
            Self::Operator(text) | Self::Axis(text) | Self::Name(None, text) => text,
            Self::Every(_) => "*",
            Self::Name(Some(prefix), name) => return format!("{prefix}:{name}"),
        };
        shown.to_owned()
    }

    /// Returns whether a following name or `*` is an operator (XPath 1.0, 3.7).
    fn ends_operand(&self) -> bool {
        let opens = matches!(
            self,
            Self::At
                | Self::Axis(_)
                | Self::Open
                | Self::OpenBracket
                | Self::Comma
                | Self::Slash
                | Self::Slashes
                | Self::Operator(_)
        );
        !opens
    }
}

/// Splits a text into tokens, each with its offset. For a name, that is the offset of its local part.
///
/// # Errors
/// Fails at text that is not a token.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token<'_>)>, String> {
    let mut tokens: Vec<(usize, Token<'_>)> = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            return Ok(tokens);
        };
        let is_operand_before = tokens.last().is_some_and(|(_, token)| token.ends_operand());
        let (token, length) = match first {
            '"' | '\'' => match rest[1..].find(first) {
                Some(end) => (Token::Literal, end + 2),
                None => return Err(format!("a text has no end: {rest}")),
            },
            '$' => (Token::Variable, 1 + qualified(&rest[1..])?.0),
            '*' if is_operand_before => (Token::Operator("*"), 1),
            '*' => (Token::Every(None), 1),
            '0'..='9' => (Token::Number, number(rest)),
            '.' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => {
                (Token::Number, number(rest))
            }
            _ => match sign(rest) {
                Some(found) => found,
                None => {
                    let (length, token) = qualified(rest)?;
                    let word = &rest[..length];
                    let behind = rest[length..].trim_start();
                    match token {
                        Token::Name(None, _) if is_operand_before => {
                            match NAMED_OPERATORS.into_iter().find(|known| *known == word) {
                                Some(operator) => (Token::Operator(operator), length),
                                None => return Err(format!("`{word}` is not expected there")),
                            }
                        }
                        Token::Name(None, _) if behind.starts_with("::") => {
                            if !AXES.contains(&word) {
                                return Err(format!("there is no axis `{word}`"));
                            }
                            let blanks = rest[length..].len() - behind.len();
                            (Token::Axis(word), length + blanks + 2)
                        }
                        Token::Name(None, _) if behind.starts_with('(') => {
                            let is_type = NODE_TYPES.contains(&word);
                            let token = if is_type {
                                Token::NodeType
                            } else {
                                Token::Function
                            };
                            (token, length)
                        }
                        Token::Name(Some(_), _) if behind.starts_with('(') => {
                            (Token::Function, length)
                        }
                        other => (other, length),
                    }
                }
            },
        };
        tokens.push((at, token));
        at += length;
    }
}

/// Returns a token of symbols, and its length.
fn sign(rest: &str) -> Option<(Token<'_>, usize)> {
    let signs = [
        ("//", Token::Slashes),
        ("/", Token::Slash),
        ("(", Token::Open),
        (")", Token::Close),
        ("[", Token::OpenBracket),
        ("]", Token::CloseBracket),
        ("..", Token::Dots),
        (".", Token::Dot),
        ("@", Token::At),
        (",", Token::Comma),
    ];
    let mut operators = OPERATORS.into_iter();
    if let Some((text, token)) = signs.into_iter().find(|(text, _)| rest.starts_with(text)) {
        return Some((token, text.len()));
    }
    let operator = operators.find(|operator| rest.starts_with(operator))?;
    Some((Token::Operator(operator), operator.len()))
}

/// Returns a name with or without a prefix, or `prefix:*`, and its length.
fn qualified(rest: &str) -> Result<(usize, Token<'_>), String> {
    let first = name(rest);
    if first == 0 {
        let found = rest.chars().next().map_or_else(String::new, String::from);
        return Err(format!("expected a name, found `{found}`"));
    }
    let behind = &rest[first..];
    let Some(local) = behind
        .strip_prefix(':')
        .filter(|_| !behind.starts_with("::"))
    else {
        return Ok((first, Token::Name(None, &rest[..first])));
    };
    if local.starts_with('*') {
        return Ok((first + 2, Token::Every(Some(&rest[..first]))));
    }
    let length = name(local);
    if length == 0 {
        return Err(format!("there is no name behind `{}:`", &rest[..first]));
    }
    let token = Token::Name(Some(&rest[..first]), &local[..length]);
    Ok((first + 1 + length, token))
}

/// Returns the length of the name without a colon at the beginning of a text (Namespaces in XML 1.0, 3).
fn name(text: &str) -> usize {
    let begins = text.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let is_inside = |inside: char| inside.is_alphanumeric() || "_-.\u{b7}".contains(inside);
    match begins {
        true => text.find(|inside| !is_inside(inside)).unwrap_or(text.len()),
        false => 0,
    }
}

fn number(text: &str) -> usize {
    let is_inside = |inside: char| inside.is_ascii_digit() || inside == '.';
    text.find(|inside| !is_inside(inside)).unwrap_or(text.len())
}
