//! Parses statements, resources and conditions. They are never types, but their errors must be Puppet's.

use super::{MAX_DEPTH, Parser, Shape, binding};
use crate::types::error::Fault;
use crate::types::expression::{Expression, Form};
use crate::types::lexer::TokenKind;

/// The functions that Puppet allows to be called as statements without parentheses.
const STATEMENT_FUNCTIONS: [&str; 15] = [
    "require", "realize", "include", "contain", "tag", "debug", "info", "notice", "warning", "err",
    "fail", "import", "break", "next", "return",
];

impl Parser<'_> {
    /// Parses one or more statements; several statements together are never a type. Stops at a token that
    /// cannot start a statement.
    pub(super) fn statements(&mut self) -> Result<Expression, Fault> {
        let mut statements: Vec<Expression> = Vec::new();
        let mut fault = None;
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
                    fault = fault.or_else(|| Some(self.stray_list(statements.last(), comma)));
                }
                statement = Expression::other(parts);
            }
            if calls && let Some(name) = statements.pop() {
                statement = Expression::other(vec![name, statement]);
            }
            statements.push(statement);
            if !self.accept(";") && !self.starts_statement() {
                break;
            }
        }
        match (fault, &self.peek().kind) {
            (_, TokenKind::Fault(fault)) => Err(fault.clone()),
            (Some(fault), _) => Err(fault),
            (None, _) if statements.len() == 1 => Ok(statements.swap_remove(0)),
            (None, _) => Ok(Expression::other(statements)),
        }
    }

    /// Whether the current token can start a statement.
    fn starts_statement(&self) -> bool {
        let token = self.peek();
        match &token.kind {
            TokenKind::Symbol => matches!(
                token.text.as_str(),
                "(" | "[" | "{" | "-" | "!" | "*" | "@" | "@@"
            ),
            TokenKind::Keyword => !matches!(
                token.text.as_str(),
                "elsif" | "else" | "inherits" | "and" | "or" | "in"
            ),
            TokenKind::End | TokenKind::Fault(_) => false,
            _ => true,
        }
    }

    /// Returns the error for a list that no preceding function accepts.
    fn stray_list(&self, before: Option<&Expression>, comma: usize) -> Fault {
        let message = match before.map(|before| &before.form) {
            Some(Form::Name(name)) => format!(
                "attempt to pass argument list to the function '{name}' which cannot be called \
                 without parentheses"
            ),
            _ => "illegal comma separated argument list".to_owned(),
        };
        Fault::unrecognised_at(&message, self.text, comma)
    }

    /// Parses an expression, a relation of resources, or an assignment.
    pub(super) fn assignment(&mut self) -> Result<Expression, Fault> {
        self.shaped_assignment().map(|(whole, _)| whole)
    }

    pub(super) fn shaped_assignment(&mut self) -> Result<(Expression, Shape), Fault> {
        let (mut left, mut shape) = self.resource()?;
        let mut links = 0;
        while ["->", "~>", "<-", "<~"].iter().any(|edge| self.is(edge)) {
            links += 1;
            if links > MAX_DEPTH {
                return Err(self.too_deep());
            }
            let operator = self.next();
            let (right, _) = self.resource()?;
            left = Expression::at(Form::Other(vec![left, right]), &operator);
            shape = Shape::More;
        }
        if ["=", "+=", "-="].iter().any(|assign| self.is(assign)) {
            let operator = self.next();
            let right = self.nested(Self::assignment)?;
            left = Expression::at(Form::Other(vec![left, right]), &operator);
            shape = Shape::More;
        }
        Ok((left, shape))
    }

    fn resource(&mut self) -> Result<(Expression, Shape), Fault> {
        for (sign, name) in [("@", "Virtual (@)"), ("@@", "Exported (@@)")] {
            if self.is(sign) {
                let offset = self.next().offset;
                self.nested(Self::resource)?;
                if let TokenKind::Fault(fault) = &self.peek().kind {
                    return Err(fault.clone());
                }
                let message = format!("{name} can only be applied to a Resource Expression");
                return Err(Fault::unrecognised_at(&message, self.text, offset));
            }
        }
        let mut left = self.expression(binding::LOOSEST)?;
        if !self.is("{") {
            return Ok((left, Shape::Expression));
        }
        for _ in 0..MAX_DEPTH {
            left = self.resource_body(left)?;
            if !self.is("{") {
                return Ok((left, Shape::More));
            }
        }
        Err(self.too_deep())
    }

    /// Parses the braces after an expression: a title and attributes, or just attributes.
    fn resource_body(&mut self, left: Expression) -> Result<Expression, Fault> {
        let offset = left.offset;
        self.expect("{")?;
        let mut parts = vec![left];
        let titled = !self.is("}") && !self.is(",") && !self.starts_attribute();
        if titled {
            parts.push(self.expression(binding::LOOSEST)?);
            self.expect(":")?;
        }
        self.attributes(&mut parts)?;
        let end = self.expect("}")?.end;
        let plain = matches!(
            parts[0].form,
            Form::Name(_) | Form::Reference(_) | Form::Access(..)
        );
        if !plain && !titled {
            let message =
                "Expression is not valid as a resource, resource-default, or resource-override";
            return Err(Fault::unrecognised_at(message, self.text, offset));
        }
        Ok(Expression {
            form: Form::Other(parts),
            offset,
            end,
        })
    }

    /// Whether an attribute follows: a name and an arrow.
    fn starts_attribute(&self) -> bool {
        let name = matches!(self.peek().kind, TokenKind::Name | TokenKind::Keyword) || self.is("*");
        let arrow = self.tokens.get(self.at + 1).is_some_and(|next| {
            next.kind == TokenKind::Symbol && matches!(next.text.as_str(), "=>" | "+>")
        });
        name && arrow
    }

    fn attributes(&mut self, parts: &mut Vec<Expression>) -> Result<(), Fault> {
        while self.starts_attribute() {
            self.next();
            self.next();
            parts.push(self.expression(binding::LOOSEST)?);
            if !self.is(",") {
                return Ok(());
            }
            self.next();
        }
        self.accept(",");
        Ok(())
    }

    /// Parses `if` or `unless` with its branches.
    pub(super) fn condition(&mut self) -> Result<Expression, Fault> {
        let start = self.next();
        let mut parts = vec![self.expression(binding::LOOSEST)?];
        let mut end = self.block(&mut parts)?;
        while self.is_keyword("elsif") && start.text == "if" {
            self.next();
            parts.push(self.expression(binding::LOOSEST)?);
            end = self.block(&mut parts)?;
        }
        if self.is_keyword("else") {
            self.next();
            end = self.block(&mut parts)?;
        }
        Ok(Expression {
            form: Form::Other(parts),
            offset: start.offset,
            end,
        })
    }

    pub(super) fn case(&mut self) -> Result<Expression, Fault> {
        let offset = self.next().offset;
        let mut parts = vec![self.expression(binding::LOOSEST)?];
        self.expect("{")?;
        while parts.len() == 1 || !self.is("}") {
            parts.push(self.expression(binding::LOOSEST)?);
            while self.accept(",") {
                parts.push(self.expression(binding::LOOSEST)?);
            }
            self.expect(":")?;
            self.block(&mut parts)?;
        }
        let end = self.expect("}")?.end;
        Ok(Expression {
            form: Form::Other(parts),
            offset,
            end,
        })
    }

    /// Parses statements in braces, and returns the end of the block.
    fn block(&mut self, parts: &mut Vec<Expression>) -> Result<usize, Fault> {
        self.expect("{")?;
        if !self.is("}") {
            parts.push(self.statements()?);
        }
        Ok(self.expect("}")?.end)
    }
}
