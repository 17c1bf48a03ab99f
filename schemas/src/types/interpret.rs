//! Converts an expression to a data type, or returns an error with Puppet's wording.

mod collections;
mod literal;
mod names;
mod reader;
mod scalars;

use super::error::Fault;
use super::expression::{Expression, Form};
use super::init;
use super::model::{Creation, Foreign, Text, Type};
use super::syntax::parse;
use literal::{Literal, one};
use reader::TypeReader;

/// Parses the text of a data type.
pub(super) fn read(text: &str) -> Result<Type, Fault> {
    let reader = TypeReader { text };
    let Some(expression) = parse(text)? else {
        return Err(Fault::expression(""));
    };
    match reader.literal(&expression)? {
        Literal::Type(found) => Ok(found),
        _ => Err(reader.refuse(&expression)),
    }
}

/// The types for which Puppet refuses parameters.
const UNPARAMETERISED: [&str; 8] = [
    "any",
    "data",
    "catalogentry",
    "scalar",
    "undef",
    "numeric",
    "default",
    "semverrange",
];

/// A type whose parameters have not been interpreted yet.
struct Parameterised<'e> {
    whole: &'e Expression,
    left: &'e Expression,
    name: &'e str,
    parameters: Vec<Literal>,
}

impl TypeReader<'_> {
    fn literal(&self, expression: &Expression) -> Result<Literal, Fault> {
        Ok(match &expression.form {
            Form::Name(text) | Form::Text(text) => Literal::Text(text.clone()),
            Form::Reference(name) => {
                let unknown = || Type::Reference(name.clone());
                Literal::Type(names::known(name).unwrap_or_else(unknown))
            }
            Form::Number(number) => Literal::number(number)?,
            Form::Boolean(truth) => Literal::Boolean(*truth),
            Form::Default => Literal::Default,
            Form::Undef => Literal::Undef,
            Form::Regexp(pattern) => Literal::Regexp(pattern.clone()),
            Form::List(items) => Literal::List(self.literals(items)?),
            Form::Hash { pairs, .. } => {
                let mut hash: Vec<(Literal, Literal)> = Vec::with_capacity(pairs.len());
                for (key, value) in pairs {
                    let (key, value) = (self.literal(key)?, self.literal(value)?);
                    match hash.iter_mut().find(|(known, _)| *known == key) {
                        Some(pair) => pair.1 = value,
                        None => hash.push((key, value)),
                    }
                }
                Literal::Hash(hash)
            }
            Form::Minus(operand) => match self.literal(operand)? {
                Literal::Integer(number) => Literal::Integer(-number),
                Literal::Float(number) => Literal::Float(-number),
                text @ Literal::Text(_) => text,
                _ => return Err(self.refuse(expression)),
            },
            Form::Access(left, keys) => {
                let parameters = self.literals(keys)?;
                let Form::Reference(name) = &left.form else {
                    return Err(self.refuse(expression));
                };
                self.parameterised(Parameterised {
                    whole: expression,
                    left,
                    name,
                    parameters,
                })?
            }
            Form::Other(_) => return Err(self.refuse(expression)),
        })
    }

    fn literals(&self, expressions: &[Expression]) -> Result<Vec<Literal>, Fault> {
        expressions.iter().map(|one| self.literal(one)).collect()
    }

    fn parameterised(&self, given: Parameterised<'_>) -> Result<Literal, Fault> {
        let Parameterised {
            whole,
            left,
            name,
            parameters,
        } = given;
        let count = parameters.len();
        let lower = name.to_ascii_lowercase();
        let found = match lower.as_str() {
            "array" => self.array(whole, parameters)?,
            "hash" => self.hash(whole, parameters)?,
            "tuple" => self.tuple(whole, parameters)?,
            "struct" => self.members(whole, parameters)?,
            "callable" => collections::callable(parameters)?,
            "collection" => match count {
                1 | 2 => Type::Collection(Some(self.size(whole, &parameters)?.to_size())),
                _ => return Err(Fault::parameters("Collection", "1 to 2", count)),
            },
            "string" => match count {
                1 | 2 => Type::String(Text::Sized(self.size(whole, &parameters)?.to_size())),
                _ => return Err(Fault::parameters("String", "1 to 2", count)),
            },
            "integer" => match scalars::integer(&parameters)? {
                Some(found) => found,
                // Puppet continues with undef, which the enclosing type accepts or refuses.
                None => return Ok(Literal::Undef),
            },
            "float" => match scalars::float(&parameters)? {
                Some(found) => found,
                None => return Ok(Literal::Undef),
            },
            "boolean" => scalars::boolean(&parameters)?,
            "enum" => scalars::words(parameters)?,
            "pattern" => scalars::patterns(parameters)?,
            "regexp" => scalars::regexp(parameters)?,
            "variant" => Type::variant(self.types(whole, parameters)?),
            "optional" => {
                let inner = self.text_or_type(whole, one(parameters, "Optional", "1")?)?;
                Type::Optional(Some(Box::new(inner)))
            }
            "notundef" => {
                let inner = self.text_or_type(whole, one(parameters, "NotUndef", "0 to 1")?)?;
                Type::NotUndef(
                    Some(inner)
                        .filter(|inner| *inner != Type::Any)
                        .map(Box::new),
                )
            }
            "sensitive" => {
                let inner = self.kind(whole, one(parameters, "Sensitive", "0 to 1")?)?;
                Type::Sensitive(Box::new(inner.generalize()))
            }
            "type" => {
                let inner = self.kind(whole, one(parameters, "Type", "1")?)?;
                Type::Metatype(Some(Box::new(inner)))
            }
            "iterable" => {
                let inner = self.kind(whole, one(parameters, "Iterable", "1")?)?;
                Type::Iterable(Some(Box::new(inner)))
            }
            "iterator" => {
                let inner = self.kind(whole, one(parameters, "Iterator", "1")?)?;
                Type::Iterator(Some(Box::new(inner)))
            }
            "init" => self.init(whole, parameters)?,
            "runtime" => scalars::runtime(parameters)?,
            "timespan" => foreign(Foreign::Timespan, "Timespan", parameters)?,
            "timestamp" => foreign(Foreign::Timestamp, "Timestamp", parameters)?,
            "semver" => foreign(Foreign::SemVer, "SemVer", parameters)?,
            "uri" => foreign(
                Foreign::Uri,
                "URI",
                one(parameters, "URI", "1").map(|one| vec![one])?,
            )?,
            "class" => match one(parameters, "Class", "1")? {
                Literal::Text(name) => {
                    Type::Class(Some(name.strip_prefix("::").unwrap_or(&name).to_owned()))
                }
                _ => return Err(self.refuse(whole)),
            },
            "resource" => resource(parameters)?,
            name if UNPARAMETERISED.contains(&name) || names::known(name).is_some() => {
                return Err(Fault::Unrecognised(format!(
                    "Not a parameterized type <{}>",
                    self.original(left)
                )));
            }
            _ => Type::Reference(self.original(whole).to_owned()),
        };
        Ok(Literal::Type(found))
    }

    fn init(&self, whole: &Expression, parameters: Vec<Literal>) -> Result<Type, Fault> {
        let mut parameters = parameters.into_iter();
        let first = parameters.next().ok_or_else(|| self.refuse(whole))?;
        let target = self.kind(whole, first)?;
        let arguments: Vec<Literal> = parameters.collect();
        let types: Vec<Type> = arguments.iter().map(Literal::inferred).collect();
        let texts: Vec<String> = arguments.iter().map(Literal::canonical).collect();
        let sources = init::sources(&target, &types, &texts)?;
        Ok(Type::Init(Some(Box::new(Creation {
            target,
            arguments: texts,
            sources,
        }))))
    }
}

/// Creates a type whose values JSON cannot express. Its parameters are kept as text.
fn foreign(kind: Foreign, name: &str, parameters: Vec<Literal>) -> Result<Type, Fault> {
    if parameters.len() > 2 && kind != Foreign::SemVer {
        return Err(Fault::parameters(name, "0 to 2", parameters.len()));
    }
    let texts: Vec<String> = parameters.iter().map(Literal::canonical).collect();
    Ok(Type::Foreign(kind, texts.join(", ")))
}

fn resource(mut parameters: Vec<Literal>) -> Result<Type, Fault> {
    if parameters.len() > 2 {
        return Err(Fault::parameters("Resource", "1 or 2", parameters.len()));
    }
    let title = if parameters.len() == 2 {
        parameters.pop()
    } else {
        None
    };
    let name = match parameters.pop() {
        Some(Literal::Text(name) | Literal::Type(Type::Reference(name))) => name,
        other => {
            let class = other.map_or_else(|| "NilClass".to_owned(), |other| other.class());
            return Err(Fault::Argument(format!(
                "The type name cannot be a {class}"
            )));
        }
    };
    match names::resource(&name) {
        Some(name) => Ok(Type::Resource(Some((
            name,
            title.map(|title| title.canonical()),
        )))),
        None => Err(Fault::Argument(format!("Illegal type name '{name}'"))),
    }
}
