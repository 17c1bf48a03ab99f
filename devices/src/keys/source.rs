//! Where rows come from: items of `facts`, and `get` of a type.

use super::table::Kind::{
    Any, Boolean, Expression, Items, Map, Object as In, OneOf, Template, Text,
};
use super::table::{Object, key};

/// The keys of a request, and some more. They refer to each other, so they are no constants.
macro_rules! request {
    ($($more:expr),*) => {
        &[
            key("command", Text, "the command whose output has the rows (protocols with commands)"),
            key("textfsm", Text, "the TextFSM template that makes rows of the output"),
            key("textfsm_file", Text, "the file with the template instead, below the family's folder"),
            key(
                "ask",
                OneOf(&[Template, In(&POST)]),
                "what to ask: a path, a subtree filter or XPath, an RPC, a table, as `devgate session get`"
            ),
            key(
                "rows",
                Text,
                "the path of the rows in the answer; without it the answer is one row, or each item of a list"
            ),
            key("values", Map(&Text), "the values of a row, and the path of each"),
            key("optional", Boolean, "whether a device may refuse the request; it then has no rows"),
            $($more),*
        ]
    };
}

/// The keys of every source, and some more.
macro_rules! source {
    ($($more:expr),*) => {
        request!(
            key("each", In(&EACH), "asked first; the request is sent for each of its rows, with the row's values"),
            key("join", Items(&In(&JOIN)), "what other answers say of the same thing"),
            key("keep", Expression, "which rows count")
            $(, $more)*
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
    desc: "A source of rows, and the attributes of the resource in each. A `command` alone is read with the type's `lines`.",
    keys: source!(
        key(
            "resource",
            Map(&Expression),
            "the value of each attribute; an empty text leaves it out"
        ),
        key(
            "block",
            Text,
            "the first line of the block in which `lines` are read"
        ),
        key(
            "let",
            Map(&Expression),
            "names for values that several attributes need"
        ),
        key(
            "when",
            Expression,
            "a condition over `facts`: the devices that are asked"
        )
    ),
};

static EACH: Object = Object {
    name: "each",
    desc: "An outer request.",
    keys: source!(),
};

static JOIN: Object = Object {
    name: "join",
    desc: "Another answer, with rows of the same things.",
    keys: request!(key(
        "on",
        Map(&Text),
        "one pair: a value of ours, and the value of theirs that is the same; of a list, one item. Without it, the other \
         answer has one row"
    )),
};

static POST: Object = Object {
    name: "post",
    desc: "An HTTP request that only reads.",
    keys: &[
        key("method", Text, "the method; `POST` by default"),
        key("path", Template, "the path; every value in it is escaped").required(),
        key("body", Any, "the body: JSON whose leaves are expressions"),
    ],
};
