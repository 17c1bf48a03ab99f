//! The syntax tree of a `.pp` file of declarations.

use devgate_schemas::Value;

/// A statement of a file.
#[derive(Debug)]
pub(super) enum Statement {
    /// `$name = value`
    Assignment {
        name: String,
        value: Expression,
        offset: usize,
    },
    /// `Type { attribute => value }`: the defaults for later resources of the type.
    Defaults {
        type_name: String,
        attributes: Vec<Attribute>,
    },
    /// Resources and references, with an arrow between each two.
    Chain {
        first: Operand,
        others: Vec<(Arrow, Operand)>,
    },
}

/// An operand of an arrow.
#[derive(Debug)]
pub(super) enum Operand {
    /// `type { title: attribute => value }`
    Resources {
        type_name: String,
        bodies: Vec<Body>,
    },
    /// `Type['title']`, or a list of these.
    References(Vec<Expression>),
}

/// An arrow: `->`, `~>`, `<-` or `<~`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrow {
    /// Whether the left operand comes first.
    pub(super) is_forward: bool,
    pub(super) notifies: bool,
    pub(super) offset: usize,
}

/// Resources with the same attributes.
#[derive(Debug)]
pub(super) struct Body {
    /// A title, a list of titles, or `default`.
    pub(super) titles: Expression,
    pub(super) attributes: Vec<Attribute>,
}

/// `name => value`
#[derive(Debug)]
pub(super) struct Attribute {
    /// The name. `None` is `*`, whose value is a hash of attributes.
    pub(super) name: Option<String>,
    pub(super) value: Expression,
    pub(super) offset: usize,
}

/// An expression.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) form: Form,
    pub(super) offset: usize,
}

/// The form of an expression.
#[derive(Debug)]
pub(super) enum Form {
    Literal(Value),
    /// `default`, which is a title, a key or a value.
    Default,
    Text(Vec<Part>),
    Variable(String),
    Index(Box<Expression>, Box<Expression>),
    List(Vec<Expression>),
    Hash(Vec<(Expression, Expression)>),
    Reference {
        type_name: String,
        titles: Vec<Expression>,
    },
    Minus(Box<Expression>),
    Sensitive(Box<Expression>),
}

/// A part of a text.
#[derive(Debug)]
pub(super) enum Part {
    Literal(String),
    Value(Expression),
}
