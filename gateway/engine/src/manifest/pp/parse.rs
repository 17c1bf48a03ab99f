//! Parses tokens into declarations.

use std::mem;

use devgate_schemas::Value;

use super::fault::Fault;
use super::syntax::{Arrow, Attribute, Body, Expression, Form, Operand, Part, Statement};
use super::token::{Piece, Token, TokenKind};
use super::unsupported::{self, refused};

/// How deep lists and hashes may be nested: far deeper than any device needs, and far less than the stack permits.
const MAX_DEPTH: usize = 100;

/// Parses the statements of a file.
///
/// # Errors
/// Fails at the first syntax error or unsupported construct.
pub(super) fn statements(tokens: Vec<Token>) -> Result<Vec<Statement>, Fault> {
    let mut parser = Parser::new(tokens);
    let mut statements = Vec::new();
    while parser.peek().kind != TokenKind::End {
        if !parser.accept(";") {
            statements.push(parser.statement()?);
        }
    }
    Ok(statements)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn new(tokens: Vec<Token>) -> Self {
        Self {
            tokens,
            at: 0,
            depth: 0,
        }
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    /// Returns the token after the current one, or the end.
    fn second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = self.peek().is(symbol);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, symbol: &str, expected: &str) -> Result<(), Fault> {
        if self.accept(symbol) {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    /// Returns the fault of an unexpected token, or that of an unsupported construct.
    fn unexpected(&self, expected: &str) -> Fault {
        let token = self.peek();
        match unsupported::of(token) {
            Some(refusal) => refused(token.offset, refusal),
            None => {
                let message = format!("expected {expected}, found {}", token.describe());
                Fault::new(token.offset, message)
            }
        }
    }

    fn statement(&mut self) -> Result<Statement, Fault> {
        let (first, second) = (self.peek().clone(), self.second().clone());
        match &first.kind {
            TokenKind::Variable(name) if second.is("=") => {
                self.next();
                self.next();
                let value = self.expression()?;
                let (name, offset) = (name.clone(), first.offset);
                return Ok(Statement::Assignment {
                    name,
                    value,
                    offset,
                });
            }
            TokenKind::Variable(_) => {
                self.next();
                return Err(self.unexpected("`=` and a value behind the variable"));
            }
            TokenKind::TypeName(name) if second.is("{") => {
                self.next();
                self.next();
                let attributes = self.attributes()?;
                self.expect("}", "`,` or `}` behind the attribute")?;
                let type_name = name.clone();
                return Ok(Statement::Defaults {
                    type_name,
                    attributes,
                });
            }
            _ => {}
        }
        let operand = self.operand()?;
        let mut others = Vec::new();
        while let Some(arrow) = self.arrow() {
            others.push((arrow, self.operand()?));
        }
        Ok(Statement::Chain {
            first: operand,
            others,
        })
    }

    fn arrow(&mut self) -> Option<Arrow> {
        let token = self.peek();
        let (is_forward, notifies) = match token.kind {
            TokenKind::Symbol("->") => (true, false),
            TokenKind::Symbol("~>") => (true, true),
            TokenKind::Symbol("<-") => (false, false),
            TokenKind::Symbol("<~") => (false, true),
            _ => return None,
        };
        let offset = self.next().offset;
        Some(Arrow {
            is_forward,
            notifies,
            offset,
        })
    }

    fn operand(&mut self) -> Result<Operand, Fault> {
        let (first, second) = (self.peek().clone(), self.second().clone());
        match &first.kind {
            TokenKind::Name(name) if name == "class" && second.is("{") => {
                Err(refused(first.offset, unsupported::CLASS))
            }
            TokenKind::Name(_) if unsupported::of(&first).is_some() => Err(self.unexpected("")),
            TokenKind::Name(name) if second.is("{") => {
                self.next();
                self.next();
                let type_name = name.clone();
                let bodies = self.bodies()?;
                Ok(Operand::Resources { type_name, bodies })
            }
            TokenKind::Name(_) => Err(refused(first.offset, unsupported::FUNCTION)),
            TokenKind::TypeName(_) if unsupported::of(&second).is_some() => {
                self.next();
                Err(self.unexpected(""))
            }
            TokenKind::TypeName(_) if second.is("[") => {
                let reference = self.expression()?;
                if self.peek().is("{") {
                    return Err(refused(first.offset, unsupported::OVERRIDE));
                }
                Ok(Operand::References(vec![reference]))
            }
            TokenKind::Symbol("[") => {
                self.next();
                let references = self.items("]", Self::expression)?;
                if self.peek().is("=") {
                    return Err(refused(first.offset, unsupported::DESTRUCTURING));
                }
                if unsupported::of(self.peek()).is_some() {
                    return Err(self.unexpected("an arrow"));
                }
                let mut items = references.iter();
                if let Some(other) = items.find(|item| !matches!(item.form, Form::Reference { .. }))
                {
                    let message = "expected references to resources: `[Type['x'], Type['y']]`";
                    return Err(Fault::new(other.offset, message));
                }
                Ok(Operand::References(references))
            }
            _ => Err(self.unexpected(
                "a resource `type { 'title': attribute => value }`, a variable or a reference",
            )),
        }
    }

    fn bodies(&mut self) -> Result<Vec<Body>, Fault> {
        let mut bodies = Vec::new();
        while !self.accept("}") {
            let titles = self.expression()?;
            self.expect(":", "a title with `:` behind it")?;
            let attributes = self.attributes()?;
            bodies.push(Body { titles, attributes });
            if !self.peek().is("}") {
                self.expect(";", "`,` behind the attribute, `;` or `}` behind the last")?;
            }
        }
        Ok(bodies)
    }

    fn attributes(&mut self) -> Result<Vec<Attribute>, Fault> {
        let mut attributes = Vec::new();
        loop {
            let token = self.peek().clone();
            let name = match &token.kind {
                TokenKind::Name(name) => Some(name.clone()),
                TokenKind::Symbol("*") => None,
                TokenKind::Symbol("}" | ";") => return Ok(attributes),
                _ => return Err(self.unexpected("an attribute's name")),
            };
            self.next();
            self.expect("=>", "`=>` behind the attribute's name")?;
            let value = self.expression()?;
            let offset = token.offset;
            attributes.push(Attribute {
                name,
                value,
                offset,
            });
            if !self.accept(",") {
                return Ok(attributes);
            }
        }
    }

    /// Parses items with commas between them, up to the closing symbol.
    fn items<T>(
        &mut self,
        close: &str,
        item: impl Fn(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let mut items = Vec::new();
        while !self.accept(close) {
            items.push(item(self)?);
            if !self.peek().is(close) {
                self.expect(",", &format!("`,` or `{close}`"))?;
            }
        }
        Ok(items)
    }

    fn expression(&mut self) -> Result<Expression, Fault> {
        if self.depth == MAX_DEPTH {
            let message = format!("this is nested more than {MAX_DEPTH} levels deep");
            return Err(Fault::new(self.peek().offset, message));
        }
        self.depth += 1;
        let expression = self.value();
        self.depth -= 1;
        expression
    }

    fn value(&mut self) -> Result<Expression, Fault> {
        let token = self.next();
        let offset = token.offset;
        let form = match token.kind {
            TokenKind::Number(number) => Form::Literal(number),
            TokenKind::Text(pieces) => {
                Form::Text(pieces.into_iter().map(part).collect::<Result<_, _>>()?)
            }
            TokenKind::Variable(name) => {
                let variable = Expression {
                    form: Form::Variable(name),
                    offset,
                };
                return self.indexed(variable);
            }
            TokenKind::Name(_) if self.peek().is("(") => {
                return Err(refused(offset, unsupported::FUNCTION));
            }
            TokenKind::Name(name) => match name.as_str() {
                "true" | "false" => Form::Literal(Value::Boolean(name == "true")),
                "undef" => Form::Literal(Value::Undef),
                "default" => Form::Default,
                _ => match unsupported::of(&self.tokens[self.at - 1]) {
                    Some(refusal) => return Err(refused(offset, refusal)),
                    None => Form::Literal(Value::from(name)),
                },
            },
            TokenKind::TypeName(name) if name == "Sensitive" && self.accept("(") => {
                let inner = self.expression()?;
                self.expect(")", "`)` behind the sensitive value")?;
                Form::Sensitive(Box::new(inner))
            }
            TokenKind::TypeName(_) if self.peek().is("(") => {
                return Err(refused(offset, unsupported::FUNCTION));
            }
            TokenKind::TypeName(type_name) if self.accept("[") => {
                let titles = self.items("]", Self::expression)?;
                Form::Reference { type_name, titles }
            }
            TokenKind::TypeName(_) => return Err(refused(offset, unsupported::TYPE_AS_VALUE)),
            TokenKind::Symbol("[") => Form::List(self.items("]", Self::expression)?),
            TokenKind::Symbol("{") => Form::Hash(self.items("}", Self::pair)?),
            TokenKind::Symbol("(") => {
                let inner = self.expression()?;
                self.expect(")", "`)`")?;
                return Ok(inner);
            }
            TokenKind::Symbol("-") => Form::Minus(Box::new(self.expression()?)),
            TokenKind::Symbol("/") => return Err(refused(offset, unsupported::REGEXP)),
            other => {
                let token = Token {
                    kind: other,
                    offset,
                };
                return Err(match unsupported::of(&token) {
                    Some(refusal) => refused(offset, refusal),
                    None => Fault::new(
                        offset,
                        format!("expected a value, found {}", token.describe()),
                    ),
                });
            }
        };
        Ok(Expression { form, offset })
    }

    fn indexed(&mut self, mut expression: Expression) -> Result<Expression, Fault> {
        while self.peek().is("[") {
            let offset = self.next().offset;
            let index = self.expression()?;
            self.expect("]", "`]` behind the index")?;
            let form = Form::Index(Box::new(expression), Box::new(index));
            expression = Expression { form, offset };
        }
        Ok(expression)
    }

    fn pair(&mut self) -> Result<(Expression, Expression), Fault> {
        let key = self.expression()?;
        self.expect("=>", "`=>` behind the key")?;
        Ok((key, self.expression()?))
    }
}

/// Parses a piece of a text. In `${name}`, the name is a variable's.
fn part(piece: Piece) -> Result<Part, Fault> {
    let mut tokens = match piece {
        Piece::Literal(text) => return Ok(Part::Literal(text)),
        Piece::Code(tokens) => tokens,
    };
    let is_call = tokens.get(1).is_some_and(|token| token.is("("));
    if let Some(Token {
        kind: kind @ TokenKind::Name(_),
        ..
    }) = tokens.first_mut()
        && !is_call
        && let TokenKind::Name(name) = mem::replace(kind, TokenKind::End)
    {
        *kind = TokenKind::Variable(name);
    }
    let mut parser = Parser::new(tokens);
    let value = parser.expression()?;
    if parser.peek().kind == TokenKind::End {
        Ok(Part::Value(value))
    } else {
        Err(parser.unexpected("`}` behind what is interpolated"))
    }
}
