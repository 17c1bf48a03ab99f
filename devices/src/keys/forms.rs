//! The forms of changes in `types/TYPE.yaml`.

use super::source::GET;
use super::table::Kind::{Any, Expression, Integer, Items, Map, Object as In, Template, Text};
use super::table::{Key, Kind, Object, key};

/// The limits of `window`. A larger one saves no time.
pub(crate) const MIN_WINDOW: i64 = 2;
pub(crate) const MAX_WINDOW: i64 = 100;

/// The key that every form has.
const fn get() -> Key {
    const SOURCES: Kind = In(&GET);
    let desc = "where resources come from; of several sources the later one wins";
    key("get", Items(&SOURCES), desc).required()
}

pub(super) static CLI: Object = Object {
    name: "cli",
    desc: "Lines of configuration. `create` or `lines` is missing only in types that only read.",
    keys: &[
        get(),
        key(
            "create",
            Template,
            "the lines that make a resource, and change it unless there is `update`",
        ),
        key("update", Template, "the lines that change a resource"),
        key(
            "delete",
            Template,
            "the lines that remove a resource; needed with `ensure`",
        ),
        key(
            "texts",
            Items(&Text),
            "attributes that may have several lines; the dialect's `text` says how they are typed",
        ),
        key(
            "mode",
            Template,
            "the line that enters the mode in which `lines` are typed",
        ),
        key(
            "lines",
            Items(&In(&LINE)),
            "instead of `create`: the lines of one attribute each, typed where it differs",
        ),
        key(
            "window",
            Integer(MIN_WINDOW, MAX_WINDOW),
            "how many lines may be sent before the first of them is answered: for lines that ask nothing, \
             and that are meant also if the device refuses one before them",
        ),
        key(
            "transaction",
            In(&TRANSACTION),
            "the lines between which several changes take effect together",
        ),
    ],
};

static TRANSACTION: Object = Object {
    name: "transaction",
    desc: "Lines around those of several changes. If the device refuses the end, none of them is in effect, and halves of \
           them are tried. If it refuses the beginning, each change takes effect by itself.",
    keys: &[
        key("begin", Text, "the line that begins it").required(),
        key("end", Text, "the line that puts it into effect").required(),
    ],
};

static LINE: Object = Object {
    name: "line",
    desc: "The lines of one attribute: exactly one of `line`, `set`, `flag` and `each`.",
    keys: &[
        key("attribute", Text, "the attribute").required(),
        key(
            "line",
            Template,
            "the line that sets `value`, which is also the line that is read; `negate` and its words take the value away",
        ),
        key("read", Text, "the line that is read, if it differs"),
        key(
            "default",
            Expression,
            "the value where the line is not shown",
        ),
        key("set", Template, "the line that sets `value`"),
        key(
            "clear",
            Template,
            "with `set`: the line that takes a value away, for an empty one",
        ),
        key(
            "map",
            Map(&Text),
            "with `set`: the device's words for values; others are written as they are",
        ),
        key(
            "flag",
            Template,
            "the line for true; `no` and the line for false, or without it if the line begins with `no`",
        ),
        key("each", Template, "the line for each `item` that is missing"),
        key(
            "remove",
            Template,
            "with `each`: the line for each `item` that is not wanted; by default `no` and the line",
        ),
        key("when", Expression, "the condition of these lines"),
    ],
};

pub(super) static REST: Object = Object {
    name: "rest",
    desc: "HTTP requests.",
    keys: &[
        get(),
        key(
            "create",
            In(&REQUEST),
            "the request that makes a resource, and changes it unless there is `update`",
        ),
        key(
            "update",
            In(&REQUEST),
            "the request that changes a resource",
        ),
        key(
            "delete",
            In(&REQUEST),
            "the request that removes a resource; needed with `ensure`",
        ),
        key(
            "join",
            Text,
            "a list of the body: requests that differ in it alone are sent as one",
        ),
    ],
};

static REQUEST: Object = Object {
    name: "request",
    desc: "An HTTP request.",
    keys: &[
        key(
            "method",
            Text,
            "the method: `POST`, `PUT`, `PATCH`, `DELETE`",
        )
        .required(),
        key("path", Template, "the path; every value in it is escaped").required(),
        key(
            "body",
            Any,
            "the body: JSON whose leaves are expressions; a key whose value is none is left out; `{ each: LIST, item: … }` is a list",
        ),
    ],
};

pub(super) static NETCONF: Object = Object {
    name: "netconf",
    desc: "XML for the configuration; the prefix `nc` is declared.",
    keys: &[
        get(),
        key(
            "create",
            Template,
            "the elements that make a resource, and change it unless there is `update`",
        ),
        key("update", Template, "the elements that change a resource"),
        key(
            "delete",
            Template,
            "the elements that remove a resource; needed with `ensure`",
        ),
    ],
};

pub(super) static OVSDB: Object = Object {
    name: "ovsdb",
    desc: "Operations of a transaction.",
    keys: &[
        get(),
        key(
            "create",
            Items(&In(&OPERATION)),
            "the operations that make a resource, and change it unless there is `update`",
        ),
        key(
            "update",
            Items(&In(&OPERATION)),
            "the operations that change a resource",
        ),
        key(
            "delete",
            Items(&In(&OPERATION)),
            "the operations that remove a resource; needed with `ensure`",
        ),
    ],
};

static OPERATION: Object = Object {
    name: "operation",
    desc: "An operation on a table: exactly one of `insert`, `update`, `mutate` and `delete`, which name the table.",
    keys: &[
        key("insert", Text, "the table into which a row is inserted"),
        key(
            "update",
            Text,
            "the table whose rows of `where` are changed",
        ),
        key(
            "mutate",
            Text,
            "the table whose rows of `where` get or lose members of sets",
        ),
        key(
            "delete",
            Text,
            "the table whose rows of `where` are removed",
        ),
        key(
            "where",
            Map(&Any),
            "the columns that the rows have; leaves are expressions",
        ),
        key(
            "row",
            Map(&Any),
            "the columns to write; leaves are expressions",
        ),
        key("add", Map(&Any), "what sets get"),
        key("remove", Map(&Any), "what sets lose"),
        key(
            "as",
            Text,
            "the name of the inserted row, for later operations",
        ),
        key("when", Expression, "the condition of this operation"),
    ],
};

pub(super) static PANOS: Object = Object {
    name: "panos",
    desc: "Changes of the candidate configuration.",
    keys: &[
        get(),
        key(
            "create",
            In(&CANDIDATE_CHANGE),
            "the change that makes a resource, and changes it unless there is `update`",
        ),
        key(
            "update",
            In(&CANDIDATE_CHANGE),
            "the change that changes a resource",
        ),
        key(
            "delete",
            In(&CANDIDATE_CHANGE),
            "the change that removes a resource; needed with `ensure`",
        ),
    ],
};

static CANDIDATE_CHANGE: Object = Object {
    name: "candidate change",
    desc: "A change of the candidate configuration.",
    keys: &[
        key("method", Text, "the method: `set`, `edit` or `delete`"),
        key(
            "xpath",
            Template,
            "the XPath of the node; every value in it is escaped",
        )
        .required(),
        key("element", Template, "the elements, except for `delete`"),
    ],
};
