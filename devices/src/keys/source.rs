//! Where rows come from: items of `facts`, and `get` of a type.

use super::Kind::{Expression, Items, Map, Object as In, Template, Text};
use super::{Object, key};

/// The keys of a query of data, and some more. They refer to each other, so they are no constants.
macro_rules! query {
    ($($more:expr),*) => {
        &[
            key("ask", Template, "what to ask: a path, a subtree filter or XPath, a table, as `devgate session get` (protocols with data)"),
            key("each", In(&EACH), "asked first; `ask` is asked for each of its rows"),
            key("rows", Text, "the path of the rows in the answer; without it the answer is one row, or each item of a list"),
            key("values", Map(&Text), "the values of a row, and the path of each"),
            key("join", Items(&In(&JOIN)), "what other answers say of the same thing"),
            key("keep", Expression, "which rows count"),
            $($more),*
        ]
    };
}

/// The keys of every source, and one more.
macro_rules! source {
    ($more:expr) => {
        query!(
            key(
                "command",
                Text,
                "the command whose output has the rows (protocols with a command line)"
            ),
            key(
                "textfsm",
                Text,
                "the TextFSM template that makes rows of the output"
            ),
            key(
                "textfsm_file",
                Text,
                "the file with the template instead, below the family's folder"
            ),
            $more
        )
    };
}

pub(super) static FACTS: Object = Object {
    name: "facts",
    desc: "A source of rows, and the facts in each.",
    keys: source!(key(
        "facts",
        Map(&Expression),
        "the path of each fact (`networking.interfaces.{{ NAME }}.mtu`), and its value; an empty text sets none",
    )
    .required()),
};

pub(super) static GET: Object = Object {
    name: "get",
    desc: "A source of rows, and the attributes of the resource in each.",
    keys: source!(
        key(
            "resource",
            Map(&Expression),
            "the value of each attribute; an empty text leaves it out",
        )
        .required()
    ),
};

static EACH: Object = Object {
    name: "each",
    desc: "An outer query.",
    keys: query!(),
};

static JOIN: Object = Object {
    name: "join",
    desc: "Another answer, with rows of the same things.",
    keys: &[
        key("ask", Template, "what to ask").required(),
        key("rows", Text, "the path of the rows in the answer"),
        key("values", Map(&Text), "the values of a row, and the path of each").required(),
        key(
            "on",
            Map(&Text),
            "one pair: a value of ours, and the value of theirs that is the same; of a list, one item",
        )
        .required(),
    ],
};
