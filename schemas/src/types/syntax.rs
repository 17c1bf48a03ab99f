//! Parses tokens into an expression of the Puppet language, as far as a type's text can contain it.
//!
//! A type is an expression like any other, so that `Integer[1+2]` and `String]` fail at the same place and
//! for the same reason as in Puppet.

mod statement;

use super::error::Fault;
use super::expression::{Expression, Form};
use super::lexer::{Token, TokenKind, tokens};

/// The maximum nesting depth of expressions: far more than any type needs, far less than the stack allows.
const MAX_DEPTH: usize = 100;

/// Parses the whole text as one expression; `None` if it is empty.
pub(super) fn parse(text: &str) -> Result<Option<Expression>, Fault> {
    let mut parser = Parser {
        text,
        tokens: tokens(text),
        at: 0,
        depth: 0,
    };
    if parser.peek().kind == TokenKind::End {
        return Ok(None);
    }
    let whole = parser.statements()?;
    match parser.peek().kind {
        TokenKind::End => Ok(Some(whole)),
        _ => Err(parser.unexpected()),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

/// Whether an assignment is just an expression. A type's parameter must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Expression,
    More,
}

/// The binding power of prefix and infix operators.
mod binding {
    pub(super) const LOOSEST: u8 = 0;
    pub(super) const SELECTOR: u8 = 5;
    pub(super) const MINUS: u8 = 13;
    pub(super) const SPLAT: u8 = 14;
    pub(super) const NOT: u8 = 15;
}

/// Returns the binding power of a binary operator. All of them are left-associative.
fn binding_of(token: &Token) -> Option<u8> {
    let binding = match (&token.kind, token.text.as_str()) {
        (TokenKind::Keyword, "in") => 12,
        (TokenKind::Symbol, "=~" | "!~") => 11,
        (TokenKind::Symbol, "*" | "/" | "%") => 10,
        (TokenKind::Symbol, "+" | "-") => 9,
        (TokenKind::Symbol, "<<" | ">>") => 8,
        (TokenKind::Symbol, "==" | "!=") => 7,
        (TokenKind::Symbol, ">" | ">=" | "<" | "<=") => 6,
        (TokenKind::Keyword, "and") => 4,
        (TokenKind::Keyword, "or") => 3,
        _ => return None,
    };
    Some(binding)
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at += usize::from(self.at + 1 < self.tokens.len());
        token
    }

    fn is(&self, symbol: &str) -> bool {
        let token = self.peek();
        token.kind == TokenKind::Symbol && token.text == symbol
    }

    fn is_keyword(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == TokenKind::Keyword && token.text == word
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

    /// Returns Puppet's syntax error at the current token.
    fn unexpected(&self) -> Fault {
        let token = self.peek();
        match &token.kind {
            TokenKind::End => Fault::Syntax("Syntax error at end of input".to_owned()),
            TokenKind::Fault(fault) => fault.clone(),
            _ => Fault::syntax_at(
                format!("Syntax error at '{}'", token.text),
                self.text,
                token.offset,
            ),
        }
    }

    /// Runs a parser one nesting level deeper, up to the limit.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&self) -> Fault {
        let message = format!("Nested more than {MAX_DEPTH} levels deep");
        Fault::syntax_at(message, self.text, self.peek().offset)
    }

    /// Parses an expression whose operators bind more tightly than `above`.
    fn expression(&mut self, above: u8) -> Result<Expression, Fault> {
        self.nested(|parser| {
            let mut left = parser.prefix()?;
            // Every link adds a nesting level on the left side of the expression.
            for _ in 0..MAX_DEPTH {
                if let Some(longer) = parser.suffix(&mut left)? {
                    left = longer;
                } else if above < binding::SELECTOR && parser.is("?") {
                    left = parser.selector(left)?;
                } else {
                    let Some(power) = binding_of(parser.peek()).filter(|power| *power > above)
                    else {
                        return Ok(left);
                    };
                    let operator = parser.next();
                    let right = parser.expression(power)?;
                    left = Expression::at(Form::Other(vec![left, right]), &operator);
                }
            }
            Err(parser.too_deep())
        })
    }

    fn prefix(&mut self) -> Result<Expression, Fault> {
        let token = self.peek().clone();
        let form = match (&token.kind, token.text.as_str()) {
            (TokenKind::Name, name) => Form::Name(name.to_owned()),
            (TokenKind::Word | TokenKind::Text, text) => Form::Text(text.to_owned()),
            (TokenKind::Reference, name) => Form::Reference(name.to_owned()),
            (TokenKind::Number, number) => Form::Number(number.to_owned()),
            (TokenKind::Boolean, truth) => Form::Boolean(truth == "true"),
            (TokenKind::Regexp(pattern), _) => Form::Regexp(pattern.clone()),
            (TokenKind::Keyword, "default") => Form::Default,
            (TokenKind::Keyword, "undef") => Form::Undef,
            (TokenKind::Variable | TokenKind::Interpolated, _)
            | (TokenKind::Keyword, "private" | "attr") => Form::Other(Vec::new()),
            (TokenKind::Keyword, "if" | "unless") => return self.nested(Self::condition),
            (TokenKind::Keyword, "case") => return self.nested(Self::case),
            (TokenKind::Keyword, "type" | "class" | "define" | "function" | "node") => {
                self.next();
                return Err(self.unexpected());
            }
            (TokenKind::Symbol, "-") => {
                self.next();
                let operand = self.expression(binding::MINUS)?;
                return Ok(Expression::at(Form::Minus(Box::new(operand)), &token));
            }
            (TokenKind::Symbol, "!") | (TokenKind::Symbol, "*") => {
                self.next();
                let above = if token.text == "!" {
                    binding::NOT
                } else {
                    binding::SPLAT
                };
                let operand = self.expression(above)?;
                return Ok(Expression::at(Form::Other(vec![operand]), &token));
            }
            (TokenKind::Symbol, "(") => {
                self.next();
                let inner = self.nested(Self::assignment)?;
                self.expect(")")?;
                return Ok(Expression::at(Form::Other(vec![inner]), &token));
            }
            (TokenKind::Symbol, "[") | (TokenKind::ListStart, _) => return self.list(),
            (TokenKind::Symbol, "{") => return self.hash(),
            _ => return Err(self.unexpected()),
        };
        self.next();
        Ok(Expression::at(form, &token))
    }

    /// Parses what follows an expression without an operator: parameters, a call, a method or a query.
    fn suffix(&mut self, left: &mut Expression) -> Result<Option<Expression>, Fault> {
        let offset = left.offset;
        let mut take = || {
            let nothing = Expression {
                form: Form::Undef,
                offset,
                end: offset,
            };
            std::mem::replace(left, nothing)
        };
        if self.accept("[") {
            let keys = self.parameters()?;
            let end = self.expect("]")?.end;
            let form = Form::Access(Box::new(take()), keys);
            return Ok(Some(Expression { form, offset, end }));
        }
        if self.accept("(") {
            let mut parts = vec![take()];
            if !self.is(")") {
                parts.extend(self.arguments(")")?);
            }
            let end = self.expect(")")?.end;
            return Ok(Some(Expression {
                form: Form::Other(parts),
                offset,
                end,
            }));
        }
        if self.accept(".") {
            if self.peek().kind != TokenKind::Name && !self.is_keyword("type") {
                return Err(self.unexpected());
            }
            let end = self.next().end;
            return Ok(Some(Expression {
                form: Form::Other(vec![take()]),
                offset,
                end,
            }));
        }
        for (open, close) in [("<|", "|>"), ("<<|", "|>>")] {
            if self.accept(open) {
                let mut parts = vec![take()];
                if !self.is(close) {
                    parts.push(self.expression(binding::LOOSEST)?);
                }
                let end = self.expect(close)?.end;
                return Ok(Some(Expression {
                    form: Form::Other(parts),
                    offset,
                    end,
                }));
            }
        }
        Ok(None)
    }

    fn selector(&mut self, left: Expression) -> Result<Expression, Fault> {
        let offset = left.offset;
        let mut parts = vec![left];
        self.expect("?")?;
        let braces = self.accept("{");
        loop {
            parts.push(self.expression(binding::LOOSEST)?);
            self.expect("=>")?;
            parts.push(self.expression(binding::LOOSEST)?);
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

    /// Parses parameters in brackets: expressions, or pairs, whose halves may be more than expressions.
    fn parameters(&mut self) -> Result<Vec<Expression>, Fault> {
        self.items("]", |parser| {
            let (parameter, shape) = parser.nested(Self::entry)?;
            if shape == Shape::More && !parser.is("=>") {
                return Err(parser.unexpected());
            }
            Ok(parameter)
        })
    }

    /// Parses the arguments of a call or the items of a list.
    fn arguments(&mut self, close: &str) -> Result<Vec<Expression>, Fault> {
        self.items(close, |parser| {
            parser.nested(Self::entry).map(|(entry, _)| entry)
        })
    }

    /// Parses one or more items and an optional trailing comma. Adjacent pairs become one hash.
    fn items(
        &mut self,
        close: &str,
        item: impl Fn(&mut Self) -> Result<Expression, Fault>,
    ) -> Result<Vec<Expression>, Fault> {
        let mut items: Vec<Expression> = Vec::new();
        loop {
            let one = item(self)?;
            if self.is("=>") {
                let arrow = self.next();
                let (value, _) = self.nested(Self::entry)?;
                if let Some(Form::Hash {
                    pairs,
                    braces: false,
                }) = items.last_mut().map(|last| &mut last.form)
                {
                    pairs.push((one, value));
                } else {
                    let pairs = vec![(one, value)];
                    items.push(Expression::at(
                        Form::Hash {
                            pairs,
                            braces: false,
                        },
                        &arrow,
                    ));
                }
            } else {
                items.push(one);
            }
            if !self.accept(",") || self.is(close) {
                return Ok(items);
            }
        }
    }

    /// Parses one half of a pair: an assignment, or a word that is reserved elsewhere.
    fn entry(&mut self) -> Result<(Expression, Shape), Fault> {
        if self.is_keyword("type") || self.is_keyword("function") {
            let token = self.next();
            return Ok((
                Expression::at(Form::Text(token.text.clone()), &token),
                Shape::More,
            ));
        }
        self.shaped_assignment()
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
            let (key, _) = self.nested(Self::entry)?;
            self.expect("=>")?;
            let (value, _) = self.nested(Self::entry)?;
            pairs.push((key, value));
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
