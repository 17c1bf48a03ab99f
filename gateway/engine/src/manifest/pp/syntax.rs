//! What a `.pp` file of declarations is made of.

use devgate_schemas::Value;

/// Something that a file says.
#[derive(Debug)]
pub(super) enum Statement {
    /// `$name = value`
    Assignment {
        name: String,
        value: Expression,
        offset: usize,
    },
    /// `Type { attribute => value }`: for later resources of the type that do not say otherwise.
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

/// What stands beside an arrow.
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

/// `->` and the like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrow {
    /// Whether what stands on the left comes first.
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
    /// Its name; none is `*`, whose value is a hash of attributes.
    pub(super) name: Option<String>,
    pub(super) value: Expression,
    pub(super) offset: usize,
}

/// What has a value.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) form: Form,
    pub(super) offset: usize,
}

/// How a value is said.
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
