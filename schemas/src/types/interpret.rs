//! Makes a data type of an expression, or says in Puppet's words why it is none.

use super::error::Fault;
use super::expression::{Expression, Form};
use super::model::{
    Alias, Foreign, Interval, KeyKind, Member, Range, Signature, Text, Type, Words,
};
use super::pattern::Pattern;
use super::syntax::parse;

/// The data type that a text names.
pub(super) fn read(text: &str) -> Result<Type, Fault> {
    let reader = Reader { text };
    let Some(expression) = parse(text)? else {
        return Err(Fault::expression(""));
    };
    match reader.literal(&expression)? {
        Literal::Type(found) => Ok(found),
        _ => Err(reader.refuse(&expression)),
    }
}

/// What a type's parameter can be.
#[derive(Clone, Debug, PartialEq)]
enum Literal {
    Type(Type),
    Text(String),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Default,
    Undef,
    Regexp(Pattern),
    List(Vec<Literal>),
    Hash(Vec<(Literal, Literal)>),
}

impl Literal {
    /// A bound of a size or a range of whole numbers.
    fn bound(&self) -> Option<Option<i128>> {
        match self {
            Self::Integer(number) => Some(Some(*number)),
            Self::Default => Some(None),
            _ => None,
        }
    }

    /// The name of its class in Ruby, which some errors show.
    fn class(&self) -> String {
        match self {
            Self::Type(found) => format!("Puppet::Pops::Types::P{}Type", found.name()),
            Self::Text(_) => "String".to_owned(),
            Self::Integer(_) => "Integer".to_owned(),
            Self::Float(_) => "Float".to_owned(),
            Self::Boolean(true) => "TrueClass".to_owned(),
            Self::Boolean(false) => "FalseClass".to_owned(),
            Self::Default => "Symbol".to_owned(),
            Self::Undef => "NilClass".to_owned(),
            Self::Regexp(_) => "Regexp".to_owned(),
            Self::List(_) => "Array".to_owned(),
            Self::Hash(_) => "Hash".to_owned(),
        }
    }
}

/// A range, if its ends are in order.
fn range(from: Option<i128>, to: Option<i128>) -> Result<Range, Fault> {
    let range = Range {
        from: from.unwrap_or(Range::UNBOUNDED_BELOW),
        to: to.unwrap_or(Range::UNBOUNDED_ABOVE),
    };
    if range.from > range.to {
        return Err(Fault::Argument(format!(
            "'from' must be less or equal to 'to'. Got ({}, {}",
            range.from, range.to
        )));
    }
    Ok(range)
}

struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    fn original(&self, expression: &Expression) -> &str {
        let (from, to) = expression.extent();
        &self.text[from..to]
    }

    fn refuse(&self, expression: &Expression) -> Fault {
        Fault::expression(self.original(expression))
    }

    fn literal(&self, expression: &Expression) -> Result<Literal, Fault> {
        Ok(match &expression.form {
            Form::Name(text) | Form::Text(text) => Literal::Text(text.clone()),
            Form::Reference(name) => Literal::Type(bare(name)),
            Form::Number(number) => number_literal(number)?,
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
                match &left.form {
                    Form::Reference(name) => {
                        self.parameterised(expression, left, name, parameters)?
                    }
                    _ => return Err(self.refuse(expression)),
                }
            }
            Form::Other(_) => return Err(self.refuse(expression)),
        })
    }

    fn literals(&self, expressions: &[Expression]) -> Result<Vec<Literal>, Fault> {
        expressions.iter().map(|one| self.literal(one)).collect()
    }

    /// A type with parameters; `ast` is the whole, for errors.
    fn parameterised(
        &self,
        ast: &Expression,
        left: &Expression,
        name: &str,
        parameters: Vec<Literal>,
    ) -> Result<Literal, Fault> {
        let given = parameters.len();
        let lower = name.trim_start_matches("::").to_ascii_lowercase();
        let found = match lower.as_str() {
            "array" => self.array(ast, parameters)?,
            "hash" => self.hash(ast, parameters)?,
            "collection" => match given {
                1 | 2 => Type::Collection(Some(self.size(ast, &parameters)?.to_size())),
                _ => return Err(Fault::parameters("Collection", "1 to 2", given)),
            },
            "string" => match given {
                1 | 2 => Type::String(Text::Sized(self.size(ast, &parameters)?.to_size())),
                _ => return Err(Fault::parameters("String", "1 to 2", given)),
            },
            "integer" => return self.integer(ast, &parameters),
            "float" => return self.float(ast, &parameters),
            "boolean" => match parameters.as_slice() {
                [Literal::Boolean(truth)] => Type::Boolean(Some(*truth)),
                [_] => {
                    return Err(Fault::Unrecognised(
                        "Boolean parameter must be true or false".to_owned(),
                    ));
                }
                _ => return Err(Fault::parameters("Boolean", "1", given)),
            },
            "enum" => words(parameters)?,
            "pattern" => patterns(parameters)?,
            "variant" => Type::variant(self.types(ast, parameters)?),
            "tuple" => self.tuple(ast, parameters)?,
            "struct" => self.members(ast, parameters)?,
            "callable" => self.callable(parameters)?,
            "optional" | "notundef" => {
                let wrap = if lower == "optional" {
                    Type::Optional
                } else {
                    Type::NotUndef
                };
                let (name, required) = if lower == "optional" {
                    ("Optional", "1")
                } else {
                    ("NotUndef", "0 to 1")
                };
                let [parameter] = one(parameters, name, required)?;
                let inner = match parameter {
                    Literal::Text(text) => Type::String(Text::Exactly(text)),
                    other => self.kind(ast, other)?,
                };
                match (lower.as_str(), inner) {
                    ("notundef", Type::Any) => Type::NotUndef(None),
                    (_, inner) => wrap(Some(Box::new(inner))),
                }
            }
            "sensitive" => {
                let [parameter] = one(parameters, "Sensitive", "0 to 1")?;
                Type::Sensitive(Box::new(self.kind(ast, parameter)?.generalize()))
            }
            "type" => {
                let [parameter] = one(parameters, "Type", "1")?;
                Type::Type(Some(Box::new(self.kind(ast, parameter)?)))
            }
            "iterable" => {
                let [parameter] = one(parameters, "Iterable", "1")?;
                Type::Iterable(Some(Box::new(self.kind(ast, parameter)?)))
            }
            "iterator" => {
                let [parameter] = one(parameters, "Iterator", "1")?;
                Type::Iterator(Some(Box::new(self.kind(ast, parameter)?)))
            }
            "init" => {
                let mut parameters = parameters.into_iter();
                let first = parameters.next().ok_or_else(|| self.refuse(ast))?;
                let inner = self.kind(ast, first)?;
                Type::Init(
                    Some(Box::new(inner)),
                    parameters.map(|rest| canonical(&rest)).collect(),
                )
            }
            "regexp" => match one(parameters, "Regexp", "1")? {
                [Literal::Text(source)] => Type::Regexp(Some(Pattern::new(&source)?)),
                [Literal::Regexp(pattern)] => Type::Regexp(Some(pattern)),
                [other] => {
                    return Err(Fault::Argument(format!(
                        "no implicit conversion of {} into String",
                        other.class()
                    )));
                }
            },
            "runtime" => match parameters.as_slice() {
                [Literal::Text(runtime), Literal::Text(name)] => {
                    Type::Runtime(format!("{runtime}, {}", super::display::quoted(name)))
                }
                [_, _] => return Err(self.refuse(ast)),
                _ => return Err(Fault::parameters("Runtime", "2", given)),
            },
            "timespan" | "timestamp" | "semver" | "uri" => {
                let kind = match lower.as_str() {
                    "timespan" => Foreign::Timespan,
                    "timestamp" => Foreign::Timestamp,
                    "semver" => Foreign::SemVer,
                    _ => Foreign::Uri,
                };
                let texts: Vec<String> = parameters.iter().map(canonical).collect();
                Type::Foreign(kind, texts.join(", "))
            }
            "class" => match parameters.as_slice() {
                [Literal::Text(name)] => {
                    Type::Class(Some(name.strip_prefix("::").unwrap_or(name).to_owned()))
                }
                [_] => return Err(self.refuse(ast)),
                _ => return Err(Fault::parameters("Class", "1", given)),
            },
            "any"
            | "data"
            | "catalogentry"
            | "scalar"
            | "undef"
            | "numeric"
            | "default"
            | "semverrange"
            | "binary"
            | "scalardata"
            | "richdata"
            | "richdatakey"
            | "puppet::lookupkey"
            | "puppet::lookupvalue" => {
                return Err(Fault::Unrecognised(format!(
                    "Not a parameterized type <{}>",
                    self.original(left)
                )));
            }
            _ => Type::Reference(self.original(ast).to_owned()),
        };
        Ok(Literal::Type(found))
    }

    /// The parameter as a type.
    fn kind(&self, ast: &Expression, parameter: Literal) -> Result<Type, Fault> {
        match parameter {
            Literal::Type(found) => Ok(found),
            _ => Err(self.refuse(ast)),
        }
    }

    fn types(&self, ast: &Expression, parameters: Vec<Literal>) -> Result<Vec<Type>, Fault> {
        parameters
            .into_iter()
            .map(|one| self.kind(ast, one))
            .collect()
    }

    /// One or two bounds, or an `Integer` type, as a size.
    fn size(&self, ast: &Expression, parameters: &[Literal]) -> Result<Range, Fault> {
        let bound = |one: &Literal| one.bound().ok_or_else(|| self.refuse(ast));
        match parameters {
            [Literal::Type(Type::Integer(range))] => Ok(*range),
            [from] => range(bound(from)?, None),
            [from, to] => range(bound(from)?, bound(to)?),
            _ => Err(self.refuse(ast)),
        }
    }

    fn array(&self, ast: &Expression, mut parameters: Vec<Literal>) -> Result<Type, Fault> {
        let given = parameters.len();
        let untyped = given == 2 && !matches!(parameters[0], Literal::Type(_));
        if untyped {
            let size = self.size(ast, &parameters)?;
            return Ok(Type::array(Type::Default, Some(size)));
        }
        match given {
            1 => Ok(Type::array(self.kind(ast, parameters.remove(0))?, None)),
            2 | 3 => {
                let element = self.kind(ast, parameters.remove(0))?;
                Ok(Type::array(element, Some(self.size(ast, &parameters)?)))
            }
            _ => Err(Fault::parameters("Array", "1 to 3", given)),
        }
    }

    fn hash(&self, ast: &Expression, mut parameters: Vec<Literal>) -> Result<Type, Fault> {
        let given = parameters.len();
        if !(2..=4).contains(&given) {
            return Err(Fault::parameters("Hash", "2 to 4", given));
        }
        let typed = matches!(parameters[..2], [Literal::Type(_), Literal::Type(_)]);
        if given == 2 && !typed {
            let size = self.size(ast, &parameters)?;
            return Ok(Type::hash(Type::Default, Type::Default, Some(size)));
        }
        let sizes = parameters.split_off(2);
        let size = match sizes.as_slice() {
            [] => None,
            sizes => Some(self.size(ast, sizes)?),
        };
        let [key, value] = <[Literal; 2]>::try_from(parameters).map_err(|_| self.refuse(ast))?;
        Ok(Type::hash(
            self.kind(ast, key)?,
            self.kind(ast, value)?,
            size,
        ))
    }

    fn integer(&self, ast: &Expression, parameters: &[Literal]) -> Result<Literal, Fault> {
        let bound = |one: &Literal| match one {
            Literal::Integer(number) => Ok(Some(*number)),
            Literal::Default | Literal::Undef => Ok(None),
            _ => Err(self.refuse(ast)),
        };
        match parameters {
            [Literal::Integer(from)] => Ok(Literal::Type(Type::Integer(range(Some(*from), None)?))),
            [Literal::Default] => Ok(Literal::Type(Type::INTEGER)),
            // Puppet goes on with nothing, and whatever holds the type refuses that.
            [_] => Ok(Literal::Undef),
            [from, to] => Ok(Literal::Type(Type::Integer(range(
                bound(from)?,
                bound(to)?,
            )?))),
            _ => Err(Fault::parameters("Integer", "1 or 2", parameters.len())),
        }
    }

    fn float(&self, ast: &Expression, parameters: &[Literal]) -> Result<Literal, Fault> {
        let bound = |one: &Literal, open: f64| match one {
            Literal::Integer(number) => Ok(*number as f64),
            Literal::Float(number) => Ok(*number),
            Literal::Default | Literal::Undef => Ok(open),
            _ => Err(self.refuse(ast)),
        };
        let interval = match parameters {
            [from @ (Literal::Integer(_) | Literal::Float(_))] => Interval {
                from: bound(from, f64::NEG_INFINITY)?,
                to: f64::INFINITY,
            },
            [Literal::Default] => Interval::ALL,
            [_] => return Ok(Literal::Undef),
            [from, to] => Interval {
                from: bound(from, f64::NEG_INFINITY)?,
                to: bound(to, f64::INFINITY)?,
            },
            _ => return Err(Fault::parameters("Float", "1 or 2", parameters.len())),
        };
        if interval.from > interval.to {
            return Err(Fault::Argument(format!(
                "'from' must be less or equal to 'to'. Got ({}, {}",
                super::display::float(interval.from),
                super::display::float(interval.to)
            )));
        }
        Ok(Literal::Type(Type::Float(interval)))
    }

    fn tuple(&self, ast: &Expression, mut parameters: Vec<Literal>) -> Result<Type, Fault> {
        let given = parameters.len();
        let is_bound = |back: usize| given >= back && parameters[given - back].bound().is_some();
        let bounds = match (is_bound(2), is_bound(1)) {
            (true, true) => 2,
            (true, false) => return Err(self.refuse(ast)),
            (false, true) => 1,
            (false, false) => 0,
        };
        let size = parameters.split_off(given - bounds);
        let size = match size.as_slice() {
            [] => None,
            [from, rest @ ..] => {
                let to = rest.first().and_then(|to| to.bound().flatten());
                Some(range(Some(from.bound().flatten().unwrap_or(0)), to)?.to_size())
            }
        };
        let types = parameters.into_iter().map(type_of).collect();
        Ok(Type::Tuple(types, size))
    }

    fn members(&self, ast: &Expression, parameters: Vec<Literal>) -> Result<Type, Fault> {
        let [parameter] = one(parameters, "Struct", "1")?;
        let Literal::Hash(pairs) = parameter else {
            return Err(self.refuse(ast));
        };
        let members: Result<Vec<Member>, Fault> = pairs
            .into_iter()
            .map(|(key, value)| member(key, type_of(value)))
            .collect();
        Ok(Type::Struct(members?))
    }

    fn callable(&self, mut parameters: Vec<Literal>) -> Result<Type, Fault> {
        let mut returns = None;
        if let [Literal::List(_), ..] = parameters.as_slice() {
            if parameters.len() > 2 {
                return Err(Fault::parameters(
                    "callable",
                    "2 when first parameter is an array",
                    parameters.len(),
                ));
            }
            if parameters.len() == 2
                && let (Some(last), Some(Literal::List(inner))) =
                    (parameters.pop(), parameters.pop())
            {
                returns = Some(type_of(last)).filter(|found| *found != Type::Any);
                parameters = inner;
            }
        }
        let block = match parameters.last() {
            Some(Literal::Type(last)) if last.is_callable() => parameters.pop().map(type_of),
            _ => None,
        };
        let given = parameters.len();
        let is_bound = |back: usize| given >= back && parameters[given - back].bound().is_some();
        let bounds = if is_bound(1) {
            1 + usize::from(is_bound(2))
        } else {
            0
        };
        let size = match parameters.split_off(given - bounds).as_slice() {
            [] => None,
            [from] => Some(range(from.bound().flatten(), None)?.to_size()),
            [from, to, ..] => Some(range(from.bound().flatten(), to.bound().flatten())?.to_size()),
        };
        let mut types: Vec<Type> = parameters.into_iter().map(type_of).collect();
        if types.is_empty() && size.is_some_and(|size| size.to > 0) {
            types.push(Type::Unit);
        }
        let signature = Signature {
            parameters: Some(types),
            size,
            block,
            returns,
        };
        Ok(Type::Callable(Some(Box::new(signature))))
    }
}

/// Exactly one parameter.
fn one(parameters: Vec<Literal>, name: &str, required: &str) -> Result<[Literal; 1], Fault> {
    let given = parameters.len();
    <[Literal; 1]>::try_from(parameters).map_err(|_| Fault::parameters(name, required, given))
}

/// A type, or the general type of a literal where a type was expected.
fn type_of(literal: Literal) -> Type {
    match literal {
        Literal::Type(found) => found,
        Literal::Text(name) => Type::Runtime(format!("ruby, {}", super::display::quoted(&name))),
        Literal::Integer(_) => Type::INTEGER,
        Literal::Float(_) => Type::FLOAT,
        Literal::Boolean(_) => Type::BOOLEAN,
        Literal::Default => Type::Default,
        Literal::Undef => Type::Undef,
        Literal::Regexp(_) => Type::Regexp(None),
        Literal::List(_) => Type::any_array(),
        Literal::Hash(_) => Type::any_hash(),
    }
}

fn member(key: Literal, value: Type) -> Result<Member, Fault> {
    let (key, name) = match key {
        Literal::Text(name) if name.is_empty() => {
            return Err(Fault::Argument(
                "Struct element key cannot be an empty String".to_owned(),
            ));
        }
        Literal::Text(name) => {
            let key = if value.accepts_undef() {
                KeyKind::Optional
            } else {
                KeyKind::Required
            };
            return Ok(Member { name, key, value });
        }
        Literal::Type(Type::NotUndef(Some(inner))) => (KeyKind::Required, *inner),
        Literal::Type(Type::Optional(Some(inner))) => (KeyKind::Optional, *inner),
        Literal::Type(Type::Enum(words)) if words.words.len() == 1 => {
            let word = words.words.into_iter().next().unwrap_or_default();
            (KeyKind::Required, Type::String(Text::Exactly(word)))
        }
        Literal::Type(found @ Type::String(_)) => (KeyKind::Required, found),
        other => {
            return Err(Fault::Argument(format!(
                "Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. Got: {}",
                other.class()
            )));
        }
    };
    match name {
        Type::String(Text::Exactly(name)) => Ok(Member { name, key, value }),
        other => Err(Fault::Argument(format!(
            "Unable to extract a non-empty literal string from Struct member key type {other}"
        ))),
    }
}

fn words(mut parameters: Vec<Literal>) -> Result<Type, Fault> {
    let ignore_case = match parameters.last() {
        Some(Literal::Boolean(truth)) => {
            let truth = *truth;
            parameters.pop();
            truth
        }
        _ => false,
    };
    if parameters.is_empty() {
        return Err(Fault::parameters("Enum", "1 or more", 0));
    }
    let words: Option<Vec<String>> = parameters
        .into_iter()
        .map(|one| match one {
            Literal::Text(word) => Some(word),
            _ => None,
        })
        .collect();
    match words {
        Some(words) => Ok(Type::Enum(Words::new(words, ignore_case))),
        None => Err(Fault::Unrecognised(
            "Enum parameters must be identifiers or strings".to_owned(),
        )),
    }
}

fn patterns(parameters: Vec<Literal>) -> Result<Type, Fault> {
    let mut patterns: Vec<Pattern> = Vec::new();
    for parameter in parameters {
        let found = match parameter {
            Literal::Text(source) => vec![Pattern::new(&source)?],
            Literal::Regexp(pattern) => vec![pattern],
            Literal::Type(Type::Regexp(Some(pattern))) => vec![pattern],
            Literal::Type(Type::Regexp(None)) => vec![Pattern::new("")?],
            Literal::Type(Type::Pattern(patterns)) => patterns,
            other => {
                return Err(Fault::Argument(format!(
                    "Only String, Regexp, Pattern-Type, and Regexp-Type are allowed: got '{}",
                    other.class()
                )));
            }
        };
        for one in found {
            if !patterns.contains(&one) {
                patterns.push(one);
            }
        }
    }
    Ok(Type::Pattern(patterns))
}

/// A number's value; a whole number may have more than 64 bits in a type.
fn number_literal(number: &str) -> Result<Literal, Fault> {
    let lower = number.to_ascii_lowercase();
    let integer = if let Some(hex) = lower.strip_prefix("0x") {
        i128::from_str_radix(hex, 16)
    } else if lower.contains(['.', 'e']) {
        return match lower.parse() {
            Ok(float) if f64::is_finite(float) => Ok(Literal::Float(float)),
            _ => Err(bad_number(number)),
        };
    } else if lower.len() > 1 && lower.starts_with('0') {
        i128::from_str_radix(&lower, 8)
    } else {
        lower.parse()
    };
    integer
        .map(Literal::Integer)
        .map_err(|_| bad_number(number))
}

fn bad_number(number: &str) -> Fault {
    Fault::Argument(format!(
        "the number {number} is too large, expected at most 127 bits"
    ))
}

/// The canonical text of a literal among a type's parameters.
fn canonical(literal: &Literal) -> String {
    match literal {
        Literal::Type(found) => found.to_string(),
        Literal::Text(text) => super::display::quoted(text),
        Literal::Integer(number) => number.to_string(),
        Literal::Float(number) => super::display::float(*number),
        Literal::Boolean(truth) => truth.to_string(),
        Literal::Default => "default".to_owned(),
        Literal::Undef => "undef".to_owned(),
        Literal::Regexp(pattern) => pattern.to_string(),
        Literal::List(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(", "))
        }
        Literal::Hash(pairs) => {
            let pairs: Vec<String> = pairs
                .iter()
                .map(|(key, value)| format!("{} => {}", canonical(key), canonical(value)))
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

/// The type of a name without parameters; an unknown name is a reference.
fn bare(name: &str) -> Type {
    match name.trim_start_matches("::").to_ascii_lowercase().as_str() {
        "any" => Type::Any,
        "array" => Type::any_array(),
        "binary" => Type::Binary,
        "boolean" => Type::BOOLEAN,
        "callable" => Type::Callable(None),
        "catalogentry" => Type::CatalogEntry,
        "class" => Type::Class(None),
        "collection" => Type::Collection(None),
        "data" => Type::Alias(Alias::Data),
        "default" => Type::Default,
        "enum" => Type::Enum(Words::new(Vec::new(), false)),
        "float" => Type::FLOAT,
        "hash" => Type::any_hash(),
        "init" => Type::Init(None, Vec::new()),
        "integer" => Type::INTEGER,
        "iterable" => Type::Iterable(None),
        "iterator" => Type::Iterator(None),
        "notundef" => Type::NotUndef(None),
        "numeric" => Type::Numeric,
        "object" => Type::Object,
        "optional" => Type::Optional(None),
        "pattern" => Type::Pattern(Vec::new()),
        "puppet::lookupkey" => Type::Alias(Alias::LookupKey),
        "puppet::lookupvalue" => Type::Alias(Alias::LookupValue),
        "regexp" => Type::Regexp(None),
        "resource" => Type::Resource(None),
        "richdata" => Type::Alias(Alias::RichData),
        "richdatakey" => Type::Alias(Alias::RichDataKey),
        "runtime" => Type::Runtime(String::new()),
        "scalar" => Type::Scalar,
        "scalardata" => Type::ScalarData,
        "semver" => Type::Foreign(Foreign::SemVer, String::new()),
        "semverrange" => Type::SemVerRange,
        "sensitive" => Type::Sensitive(Box::new(Type::Any)),
        "string" => Type::STRING,
        "struct" => Type::Struct(Vec::new()),
        "timespan" => Type::Foreign(Foreign::Timespan, String::new()),
        "timestamp" => Type::Foreign(Foreign::Timestamp, String::new()),
        "tuple" => Type::Tuple(Vec::new(), None),
        "type" => Type::Type(None),
        "typeset" => Type::TypeSet,
        "undef" => Type::Undef,
        "uri" => Type::Foreign(Foreign::Uri, String::new()),
        "variant" => Type::Variant(Vec::new()),
        _ => Type::Reference(name.to_owned()),
    }
}
