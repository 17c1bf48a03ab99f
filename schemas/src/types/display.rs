//! Prints a data type in Puppet's canonical form.

use std::fmt::{self, Display, Formatter, Write};

use super::model::{Interval, Member, Range, Signature, Text, Type};

/// Prints a type with all its parameters.
pub(super) fn canonical(shown: &Type, f: &mut Formatter<'_>) -> fmt::Result {
    let name = shown.name();
    match shown {
        Type::Object => f.write_str("Object[{}]"),
        Type::SetOfTypes => f.write_str("TypeSet"),
        Type::Boolean(Some(truth)) => write!(f, "Boolean[{truth}]"),
        Type::Integer(range) => parameters(f, name, |list| list.range(*range)),
        Type::Float(interval) => parameters(f, name, |list| list.interval(*interval)),
        Type::String(Text::Sized(size)) => parameters(f, name, |list| list.range(*size)),
        Type::Collection(Some(size)) => parameters(f, name, |list| list.range(*size)),
        Type::Enum(words) => parameters(f, name, |list| {
            words
                .words
                .iter()
                .try_for_each(|word| list.item(&Quoted(word)))?;
            if words.ignore_case {
                list.item(&true)
            } else {
                Ok(())
            }
        }),
        Type::Pattern(patterns) => parameters(f, name, |list| {
            patterns.iter().try_for_each(|one| list.item(one))
        }),
        Type::Regexp(Some(pattern)) => write!(f, "Regexp[{pattern}]"),
        Type::Foreign(_, parameters) | Type::Runtime(parameters) if !parameters.is_empty() => {
            write!(f, "{name}[{parameters}]")
        }
        Type::Optional(Some(inner)) | Type::NotUndef(Some(inner)) => match inner.as_ref() {
            Type::String(Text::Exactly(text)) => write!(f, "{name}[{}]", Quoted(text)),
            inner => write!(f, "{name}[{inner}]"),
        },
        Type::Sensitive(inner) if **inner != Type::Any => write!(f, "Sensitive[{inner}]"),
        Type::Hidden(inner) => canonical(&Type::Sensitive(Box::new(inner.bare())), f),
        Type::Metatype(Some(inner)) | Type::Iterable(Some(inner)) | Type::Iterator(Some(inner)) => {
            write!(f, "{name}[{inner}]")
        }
        Type::Init(Some(creation)) => parameters(f, name, |list| {
            list.item(&creation.target)?;
            creation.arguments.iter().try_for_each(|one| list.item(one))
        }),
        Type::Variant(types) => parameters(f, name, |list| {
            types.iter().try_for_each(|one| list.item(one))
        }),
        Type::Array(_, Some(Range::ZERO)) | Type::Hash(_, _, Some(Range::ZERO)) => {
            write!(f, "{name}[0, 0]")
        }
        Type::Array(element, size) => parameters(f, name, |list| {
            if **element != Type::Any || size.is_some() {
                list.item(element)?;
            }
            size.map_or(Ok(()), |size| list.range(size))
        }),
        Type::Hash(key, value, size) => parameters(f, name, |list| {
            if **key != Type::Any || **value != Type::Any || size.is_some() {
                list.item(key)?;
                list.item(value)?;
            }
            size.map_or(Ok(()), |size| list.range(size))
        }),
        Type::Tuple(types, size) => {
            if types.is_empty() {
                return f.write_str(name);
            }
            parameters(f, name, |list| {
                types.iter().try_for_each(|one| list.item(one))?;
                size.map_or(Ok(()), |size| list.range(size))
            })
        }
        Type::Struct(members) if !members.is_empty() => {
            f.write_str("Struct[{")?;
            let mut list = List {
                f,
                open: "",
                items: 0,
            };
            members.iter().try_for_each(|one| list.item(one))?;
            f.write_str("}]")
        }
        Type::Callable(Some(signature)) => write!(f, "Callable[{signature}]"),
        Type::Class(Some(class)) => write!(f, "Class[{class}]"),
        Type::Resource(Some((kind, title))) => match title {
            Some(title) => write!(f, "{kind}[{title}]"),
            None => f.write_str(kind),
        },
        Type::Reference(text) => write!(f, "TypeReference[{}]", Quoted(text)),
        _ => f.write_str(name),
    }
}

/// Prints a name, followed by parameters in brackets if there are any.
fn parameters(
    f: &mut Formatter<'_>,
    name: &str,
    items: impl FnOnce(&mut List<'_, '_>) -> fmt::Result,
) -> fmt::Result {
    f.write_str(name)?;
    let mut list = List {
        f,
        open: "[",
        items: 0,
    };
    items(&mut list)?;
    if list.items > 0 {
        f.write_str("]")
    } else {
        Ok(())
    }
}

/// A comma-separated list; an opening bracket precedes its first item.
struct List<'l, 'f> {
    f: &'l mut Formatter<'f>,
    open: &'static str,
    items: usize,
}

impl List<'_, '_> {
    fn item(&mut self, item: &dyn Display) -> fmt::Result {
        self.f
            .write_str(if self.items == 0 { self.open } else { ", " })?;
        self.items += 1;
        write!(self.f, "{item}")
    }

    /// Prints the bounds of a range; nothing for an unbounded one.
    fn range(&mut self, range: Range) -> fmt::Result {
        if range == Range::ALL {
            return Ok(());
        }
        match range.from {
            Range::UNBOUNDED_BELOW => self.item(&"default")?,
            from => self.item(&from)?,
        }
        match range.to {
            Range::UNBOUNDED_ABOVE => Ok(()),
            to => self.item(&to),
        }
    }

    fn interval(&mut self, interval: Interval) -> fmt::Result {
        if interval == Interval::ALL {
            return Ok(());
        }
        match interval.from {
            f64::NEG_INFINITY => self.item(&"default")?,
            from => self.item(&float(from))?,
        }
        match interval.to {
            f64::INFINITY => Ok(()),
            to => self.item(&float(to)),
        }
    }
}

impl Display for Member {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = Quoted(&self.name);
        match (self.is_optional(), self.value.accepts_undef()) {
            (true, false) => write!(f, "Optional[{name}] => {}", self.value),
            (false, true) => write!(f, "NotUndef[{name}] => {}", self.value),
            _ => write!(f, "{name} => {}", self.value),
        }
    }
}

impl Display for Signature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(returns) = &self.returns else {
            return self.fmt_parameters(f);
        };
        f.write_str("[")?;
        self.fmt_parameters(f)?;
        write!(f, "], {returns}")
    }
}

impl Signature {
    fn fmt_parameters(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut list = List {
            f,
            open: "",
            items: 0,
        };
        let types = &self.parameters;
        types
            .iter()
            .filter(|one| **one != Type::Unit)
            .try_for_each(|one| list.item(one))?;
        if types.is_empty() {
            list.range(Range::ZERO)?;
        } else if let Some(size) = self.size {
            list.range(size)?;
        }
        self.block.iter().try_for_each(|block| list.item(block))
    }
}

/// Formats a float as Ruby does: always with a fraction, and with an exponent if it is very large or small.
pub(super) fn float(number: f64) -> String {
    let size = number.abs();
    if number != 0.0 && !(1e-4..1e15).contains(&size) && number.is_finite() {
        let text = format!("{number:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let fraction = if mantissa.contains('.') { "" } else { ".0" };
        let (sign, digits) = match exponent.strip_prefix('-') {
            Some(digits) => ('-', digits),
            None => ('+', exponent),
        };
        return format!("{mantissa}{fraction}e{sign}{digits:0>2}");
    }
    format!("{number:?}")
}

/// Quotes a text as in the Puppet language.
pub(super) fn quoted(text: &str) -> String {
    Quoted(text).to_string()
}

/// A text in single quotes, or in double quotes if it has control characters.
struct Quoted<'t>(&'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.chars().any(|c| c < ' ') {
            return self.double(f);
        }
        f.write_char('\'')?;
        let mut escaped = false;
        for c in self.0.chars() {
            match c {
                '\\' if !escaped => {
                    escaped = true;
                    continue;
                }
                '\'' if !escaped => f.write_str("\\'")?,
                other if escaped => write!(f, "\\{other}")?,
                other => f.write_char(other)?,
            }
            escaped = false;
        }
        f.write_str(if escaped { "\\'" } else { "'" })
    }
}

impl Quoted<'_> {
    fn double(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '\t' => f.write_str("\\t")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '"' | '$' | '\\' => write!(f, "\\{c}")?,
                control if control < ' ' => write!(f, "\\u{{{:X}}}", u32::from(control))?,
                other => f.write_char(other)?,
            }
        }
        f.write_char('"')
    }
}
