//! The values that `Init[T]` admits in addition to those of `T`: every value from which Puppet's `new`
//! makes a `T`.
//!
//! Specification: "Puppet language: function new". Each form of the constructor is the tuple of its
//! arguments.

use super::error::Fault;
use super::interpret;
use super::model::{Range, Type};

const INTEGER: &str = "Variant[Numeric, Boolean, Pattern[/\\A[+-]?\\s*(?:(?:\\d+)|\
    (?:0[xX][0-9A-Fa-f]+)|(?:0[bB][01]+))\\z/], Timespan, Timestamp]";
const RADIX: &str =
    "Variant[Default, Integer[2, 2], Integer[8, 8], Integer[10, 10], Integer[16, 16]]";
const NUMBER: &str = "Variant[Numeric, Boolean, Pattern[/\\A[+-]?\\s*(?:(?:(?:0|[1-9]\\d*)\
    (?:\\.\\d+)?(?:[eE]-?\\d+)?)|(?:0[xX][0-9A-Fa-f]+)|(?:0[0-7]+)|(?:0[bB][01]+))\\z/], \
    Timespan, Timestamp]";
const TIME_FORMATS: &str = "Variant[String[2], Array[String[2], 1]]";
const URI_PARTS: &str = "Struct[{Optional[scheme] => String[1], Optional[userinfo] => String[1], \
    Optional[host] => String[1], Optional[port] => Integer[0], Optional[path] => String[1], \
    Optional[query] => String[1], Optional[fragment] => String[1], Optional[opaque] => String[1]}]";
const SEM_VER: &str = "Pattern[/\\A(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\
    (?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?\\Z/]";
const SEM_VER_QUALIFIER: &str = "Pattern[/\\A[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*\\Z/]";

/// Returns the constructor forms of a type as argument tuples; none if the type has no constructor.
fn ways(target: &Type) -> Vec<String> {
    match target {
        Type::Integer(_) => vec![
            format!("Tuple[{INTEGER}, {RADIX}, Boolean, 1, 3]"),
            format!(
                "Tuple[Struct[{{from => {INTEGER}, Optional[radix] => {RADIX}, \
                 Optional[abs] => Boolean}}]]"
            ),
        ],
        Type::Float(_) | Type::Numeric => vec![
            format!("Tuple[{NUMBER}, Boolean, 1, 2]"),
            format!("Tuple[Struct[{{from => {NUMBER}, Optional[abs] => Boolean}}]]"),
        ],
        Type::String(_) => vec!["Tuple[Any, Any, 1, 2]".to_owned()],
        Type::Boolean(_) => vec![
            "Tuple[Variant[Integer, Float, Boolean, \
             Enum['false', 'true', 'yes', 'no', 'y', 'n', true]]]"
                .to_owned(),
        ],
        Type::Array(..) | Type::Tuple(..) => vec![
            "Tuple[Variant[Array, Hash, Binary, Iterable], Boolean[false], 1, 2]".to_owned(),
            "Tuple[Any, Boolean[true]]".to_owned(),
        ],
        Type::Hash(..) | Type::Struct(_) => vec![
            "Tuple[Array[Tuple[Array, Any], 1], Enum[tree, hash_tree], 1, 2]".to_owned(),
            "Tuple[Array[Tuple[Any, Any], 1]]".to_owned(),
            "Tuple[Any]".to_owned(),
        ],
        Type::Regexp(_) => vec!["Tuple[String, Boolean, 1, 2]".to_owned()],
        Type::Sensitive(_) => vec!["Tuple[Sensitive]".to_owned(), "Tuple[Any]".to_owned()],
        Type::Metatype(_) => vec!["Tuple[String[1]]".to_owned()],
        Type::SemVerRange => vec![
            "Tuple[String[1]]".to_owned(),
            "Tuple[Variant[Default, SemVer], Variant[Default, SemVer], Boolean, 2, 3]".to_owned(),
            "Tuple[Struct[{min => Variant[Default, SemVer], \
             Optional[max] => Variant[Default, SemVer], Optional[exclude_max] => Boolean}]]"
                .to_owned(),
        ],
        Type::Binary => vec![
            "Tuple[String, Enum['%b', '%u', '%B', '%s', '%r'], 1, 2]".to_owned(),
            "Tuple[Array[Integer[0, 255]]]".to_owned(),
            "Tuple[Variant[Struct[{value => String, \
             'format' => Optional[Enum['%b', '%u', '%B', '%s', '%r']]}], \
             Struct[{value => Array[Integer[0, 255]]}]]]"
                .to_owned(),
        ],
        Type::Foreign(kind, _) => foreign_ways(kind.name()),
        _ => Vec::new(),
    }
}

fn foreign_ways(name: &str) -> Vec<String> {
    let fields = [
        "days",
        "hours",
        "minutes",
        "seconds",
        "milliseconds",
        "microseconds",
    ];
    let fields: String = fields
        .iter()
        .map(|field| format!("Optional[{field}] => Integer, "))
        .collect();
    let texts = |name: &str| {
        format!("Tuple[Struct[{{string => String[1], Optional[format] => {TIME_FORMATS}{name}}}]]")
    };
    match name {
        "Timespan" => vec![
            "Tuple[Variant[Integer, Float]]".to_owned(),
            format!("Tuple[String[1], {TIME_FORMATS}, 1, 2]"),
            "Tuple[Integer, 4, 7]".to_owned(),
            texts(""),
            format!(
                "Tuple[Struct[{{Optional[negative] => Boolean, {fields}\
                 Optional[nanoseconds] => Integer}}]]"
            ),
        ],
        "Timestamp" => vec![
            "Tuple[Any, 0, 0]".to_owned(),
            "Tuple[Variant[Integer, Float]]".to_owned(),
            format!("Tuple[String[1], {TIME_FORMATS}, String[1], 1, 3]"),
            texts(", Optional[timezone] => String[1]"),
        ],
        "SemVer" => vec![
            format!("Tuple[{SEM_VER}]"),
            format!(
                "Tuple[Integer[0], Integer[0], Integer[0], {SEM_VER_QUALIFIER}, \
                 {SEM_VER_QUALIFIER}, 3, 5]"
            ),
            format!(
                "Tuple[Struct[{{major => Integer[0], minor => Integer[0], patch => Integer[0], \
                 Optional[prerelease] => {SEM_VER_QUALIFIER}, \
                 Optional[build] => {SEM_VER_QUALIFIER}}}]]"
            ),
        ],
        _ => vec!["Tuple[String[1]]".to_owned(), format!("Tuple[{URI_PARTS}]")],
    }
}

/// Returns the types of values from which the target can be made, given these further arguments.
pub(super) fn sources(
    target: &Type,
    arguments: &[Type],
    texts: &[String],
) -> Result<Vec<Type>, Fault> {
    let ways = ways(target);
    if ways.is_empty() {
        return Err(Fault::Argument(format!(
            "Creation of new instance of type '{target}' is not supported"
        )));
    }
    let mut sources = Vec::new();
    for way in ways {
        let tuple = interpret::read(&way)?;
        let size = tuple.tuple_size();
        let Type::Tuple(types, _) = &tuple else {
            continue;
        };
        if arguments.is_empty() {
            if size.contains(1) {
                sources.extend(types.first().cloned());
            }
            if size != Range::point(1) {
                sources.push(tuple);
            }
            continue;
        }
        let given = types.iter().take(1).chain(arguments).cloned().collect();
        if size.contains_size(1 + arguments.len()) && tuple.covers(&Type::Tuple(given, None)) {
            sources.extend(types.first().cloned());
        }
    }
    if sources.is_empty() {
        return Err(Fault::Argument(format!(
            "The type 'Init[{target}, {}]' does not represent a valid set of parameters for {}.new()",
            texts.join(", "),
            target.generalize().name()
        )));
    }
    Ok(sources)
}
