//! Reads tokens as an expression of the Puppet language, as far as a type's text can be one.
//!
//! A type is an expression like any other, so that `Integer[1+2]` and `String]` fail at the same
//! place and for the same reason as in Puppet.

use super::error::Fault;
use super::lexer::{Kind, Token, tokens};

/// How deeply expressions may be nested: far more than any type needs, far less than the stack.
pub(super) const MAX_DEPTH: usize = 100;

/// An expression and where it stands, in bytes.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) form: Form,
    offset: usize,
    end: usize,
}

/// The expressions that can be part of a type, and all others in one.
#[derive(Debug)]
pub(super) enum Form {
    Name(String),
    Reference(String),
    Text(String),
    Number(String),
    Boolean(bool),
    Default,
    Undef,
    Regexp(String),
    List(Vec<Expression>),
    /// Pairs in braces, or without them among a type's parameters.
    Hash {
        pairs: Vec<(Expression, Expression)>,
        braces: bool,
    },
    Access(Box<Expression>, Vec<Expression>),
    Minus(Box<Expression>),
    /// What can never be a type: operators, calls, variables.
    Other(Vec<Expression>),
}

/// Reads the whole text as one expression; `None` if it holds nothing.
pub(super) fn parse(text: &str) -> Result<Option<Expression>, Fault> {
    let mut parser = Parser {
        text,
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
    };
    if parser.peek().kind == Kind::End {
        return Ok(None);
    }
    parser.statements().map(Some)
}

impl Expression {
    fn at(form: Form, token: &Token) -> Self {
        Self {
            form,
            offset: token.offset,
            end: token.end,
        }
    }

    /// The bytes from the first to the last that belong to this expression or a part of it.
    pub(super) fn extent(&self) -> (usize, usize) {
        let mut extent = (self.offset, self.end);
        let mut widen = |part: &Self| {
            let (from, to) = part.extent();
            extent = (extent.0.min(from), extent.1.max(to));
        };
        match &self.form {
            Form::List(parts) | Form::Other(parts) => parts.iter().for_each(widen),
            Form::Access(left, parts) => {
                widen(left);
                parts.iter().for_each(widen);
            }
            Form::Minus(part) => widen(part),
            Form::Hash { pairs, .. } => pairs.iter().for_each(|(key, value)| {
                widen(key);
                widen(value);
            }),
            _ => {}
        }
        extent
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

/// How tightly a binary operator binds; all associate to the left.
fn binding(token: &Token) -> Option<u8> {
    let binding = match (token.kind, token.text.as_str()) {
        (Kind::Keyword, "in") => 12,
        (Kind::Symbol, "=~" | "!~") => 11,
        (Kind::Symbol, "*" | "/" | "%") => 10,
        (Kind::Symbol, "+" | "-") => 9,
        (Kind::Symbol, "<<" | ">>") => 8,
        (Kind::Symbol, "==" | "!=") => 7,
        (Kind::Symbol, ">" | ">=" | "<" | "<=") => 6,
        (Kind::Keyword, "and") => 4,
        (Kind::Keyword, "or") => 3,
        _ => return None,
    };
    Some(binding)
}

const UNARY: u8 = 13;
const NOT: u8 = 14;

/// The functions that Puppet lets one call without parentheses, as statements.
const STATEMENT_FUNCTIONS: [&str; 15] = [
    "require", "realize", "include", "contain", "tag", "debug", "info", "notice", "warning", "err",
    "fail", "import", "break", "next", "return",
];

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at += usize::from(token.kind != Kind::End);
        token
    }

    fn is(&self, symbol: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Symbol && token.text == symbol
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<Token, Fault> {
        if self.is(symbol) {
            Ok(self.next())
        } else {
            Err(self.unexpected())
        }
    }

    /// Puppet's syntax error at the present token.
    fn unexpected(&self) -> Fault {
        let token = self.peek();
        match token.kind {
            Kind::End => Fault::Syntax("Syntax error at end of input".to_owned()),
            Kind::Regexp => Fault::syntax_at(
                format!("Syntax error at '(?-mix:{})'", token.text),
                self.text,
                token.offset,
            ),
            _ => Fault::syntax_at(
                format!("Syntax error at '{}'", token.text),
                self.text,
                token.offset,
            ),
        }
    }

    /// One statement, or several that only together are no type.
    fn statements(&mut self) -> Result<Expression, Fault> {
        let mut statements: Vec<Expression> = Vec::new();
        let mut stray_comma = None;
        loop {
            let mut statement = self.assignment()?;
            let calls = statements.last().is_some_and(|last| {
                matches!(&last.form, Form::Name(name) if STATEMENT_FUNCTIONS.contains(&name.as_str()))
            });
            if self.is(",") {
                let comma = self.peek().offset;
                let mut parts = vec![statement];
                while self.accept(",") {
                    parts.push(self.assignment()?);
                }
                if !calls {
                    let before = statements.last().and_then(|last| match &last.form {
                        Form::Name(name) => Some(name.clone()),
                        _ => None,
                    });
                    stray_comma = stray_comma.or(Some((comma, before)));
                }
                let (offset, end) = (parts[0].offset, parts[parts.len() - 1].end);
                statement = Expression {
                    form: Form::Other(parts),
                    offset,
                    end,
                };
            }
            if calls && let Some(name) = statements.pop() {
                let (offset, end) = (name.offset, statement.end);
                statement = Expression {
                    form: Form::Other(vec![name, statement]),
                    offset,
                    end,
                };
            }
            statements.push(statement);
            if !self.accept(";") && self.peek().kind == Kind::End {
                break;
            }
        }
        if let Some((comma, before)) = stray_comma {
            let message = match before {
                Some(name) => format!(
                    "attempt to pass argument list to the function '{name}' which cannot be called without parentheses"
                ),
                None => "illegal comma separated argument list".to_owned(),
            };
            return Err(Fault::unrecognised_at(&message, self.text, comma));
        }
        if statements.len() == 1 {
            return Ok(statements.swap_remove(0));
        }
        let (offset, end) = (statements[0].offset, statements[statements.len() - 1].end);
        Ok(Expression {
            form: Form::Other(statements),
            offset,
            end,
        })
    }

    fn assignment(&mut self) -> Result<Expression, Fault> {
        let mut left = self.expression(0)?;
        while ["->", "~>", "<-", "<~"].iter().any(|edge| self.is(edge)) {
            let operator = self.next();
            let right = self.expression(0)?;
            left = Expression::at(Form::Other(vec![left, right]), &operator);
        }
        if ["=", "+=", "-="].iter().any(|assign| self.is(assign)) {
            let operator = self.next();
            let right = self.nested(Self::assignment)?;
            left = Expression::at(Form::Other(vec![left, right]), &operator);
        }
        Ok(left)
    }

    /// Goes one level deeper, if that is allowed.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault::syntax_at(
                format!("Nested more than {MAX_DEPTH} levels deep"),
                self.text,
                self.peek().offset,
            ));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// An expression whose operators bind more tightly than `above`.
    fn expression(&mut self, above: u8) -> Result<Expression, Fault> {
        self.nested(|parser| {
            let mut left = parser.prefix()?;
            loop {
                left = match parser.suffix(left)? {
                    (left, true) => left,
                    (left, false) => {
                        let Some(power) = binding(parser.peek()).filter(|power| *power > above)
                        else {
                            return Ok(left);
                        };
                        let operator = parser.next();
                        let right = parser.expression(power)?;
                        Expression::at(Form::Other(vec![left, right]), &operator)
                    }
                };
                if above < 5 && parser.is("?") {
                    left = parser.selector(left)?;
                }
            }
        })
    }

    fn prefix(&mut self) -> Result<Expression, Fault> {
        let token = self.peek().clone();
        let form = match (token.kind, token.text.as_str()) {
            (Kind::Name, name) => Form::Name(name.to_owned()),
            (Kind::Word | Kind::Text, text) => Form::Text(text.to_owned()),
            (Kind::Reference, name) => Form::Reference(name.to_owned()),
            (Kind::Number, number) => Form::Number(number.to_owned()),
            (Kind::Boolean, truth) => Form::Boolean(truth == "true"),
            (Kind::Regexp, source) => Form::Regexp(source.to_owned()),
            (Kind::Keyword, "default") => Form::Default,
            (Kind::Keyword, "undef") => Form::Undef,
            (Kind::Variable | Kind::Interpolated, _) | (Kind::Keyword, "private" | "attr") => {
                Form::Other(Vec::new())
            }
            (Kind::Symbol, "-") => {
                self.next();
                let operand = self.expression(UNARY)?;
                return Ok(Expression::at(Form::Minus(Box::new(operand)), &token));
            }
            (Kind::Symbol, "!") | (Kind::Symbol, "*") => {
                self.next();
                let operand = self.expression(if token.text == "!" { NOT } else { UNARY })?;
                return Ok(Expression::at(Form::Other(vec![operand]), &token));
            }
            (Kind::Symbol, "(") => {
                self.next();
                let inner = self.nested(Self::assignment)?;
                self.expect(")")?;
                return Ok(Expression::at(Form::Other(vec![inner]), &token));
            }
            (Kind::Symbol, "[") | (Kind::ListStart, _) => return self.list(),
            (Kind::Symbol, "{") => return self.hash(),
            _ => return Err(self.unexpected()),
        };
        self.next();
        Ok(Expression::at(form, &token))
    }

    /// What follows an expression without an operator: parameters, a call, a method.
    fn suffix(&mut self, left: Expression) -> Result<(Expression, bool), Fault> {
        if self.is("[") {
            self.next();
            let keys = self.arguments("]")?;
            let end = self.expect("]")?.end;
            let offset = left.offset;
            return Ok((
                Expression {
                    form: Form::Access(Box::new(left), keys),
                    offset,
                    end,
                },
                true,
            ));
        }
        if self.is("(") {
            self.next();
            let mut parts = vec![left];
            if !self.is(")") {
                parts.extend(self.arguments(")")?);
            }
            let (offset, end) = (parts[0].offset, self.expect(")")?.end);
            return Ok((
                Expression {
                    form: Form::Other(parts),
                    offset,
                    end,
                },
                true,
            ));
        }
        if self.is(".") {
            self.next();
            let name = self.next();
            if name.kind != Kind::Name && name.text != "type" {
                self.at -= usize::from(name.kind != Kind::End);
                return Err(self.unexpected());
            }
            let (offset, end) = (left.offset, name.end);
            return Ok((
                Expression {
                    form: Form::Other(vec![left]),
                    offset,
                    end,
                },
                true,
            ));
        }
        Ok((left, false))
    }

    fn selector(&mut self, left: Expression) -> Result<Expression, Fault> {
        let offset = left.offset;
        let mut parts = vec![left];
        self.expect("?")?;
        let braces = self.accept("{");
        loop {
            parts.push(self.expression(0)?);
            self.expect("=>")?;
            parts.push(self.expression(0)?);
            if !braces || !self.accept(",") || self.is("}") {
                break;
            }
        }
        if braces {
            self.expect("}")?;
        }
        Ok(Expression {
            form: Form::Other(parts),
            offset,
            end: offset,
        })
    }

    /// At least one argument, then an optional comma; neighbouring pairs become one hash.
    fn arguments(&mut self, close: &str) -> Result<Vec<Expression>, Fault> {
        let mut arguments: Vec<Expression> = Vec::new();
        loop {
            let argument = if close == "]" {
                self.expression(0)?
            } else {
                self.nested(Self::assignment)?
            };
            if self.is("=>") {
                let arrow = self.next();
                let value = self.nested(Self::assignment)?;
                let last = arguments.last_mut().map(|last| &mut last.form);
                if let Some(Form::Hash {
                    pairs,
                    braces: false,
                }) = last
                {
                    pairs.push((argument, value));
                } else {
                    let pairs = vec![(argument, value)];
                    arguments.push(Expression::at(
                        Form::Hash {
                            pairs,
                            braces: false,
                        },
                        &arrow,
                    ));
                }
            } else {
                arguments.push(argument);
            }
            if !self.accept(",") || self.is(close) {
                return Ok(arguments);
            }
        }
    }

    fn list(&mut self) -> Result<Expression, Fault> {
        let offset = self.next().offset;
        let items = if self.is("]") {
            Vec::new()
        } else {
            self.arguments("]")?
        };
        let end = self.expect("]")?.end;
        Ok(Expression {
            form: Form::List(items),
            offset,
            end,
        })
    }

    fn hash(&mut self) -> Result<Expression, Fault> {
        let offset = self.next().offset;
        let mut pairs = Vec::new();
        while !self.is("}") {
            let key = self.nested(Self::assignment)?;
            self.expect("=>")?;
            pairs.push((key, self.nested(Self::assignment)?));
            if !self.accept(",") {
                break;
            }
        }
        let end = self.expect("}")?.end;
        Ok(Expression {
            form: Form::Hash {
                pairs,
                braces: true,
            },
            offset,
            end,
        })
    }
}
