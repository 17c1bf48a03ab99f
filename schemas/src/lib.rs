//! The vocabulary of devgate: data types, schemas, metadata, secrets, events. No I/O, no async.

mod announced;
mod attribute;
pub mod derived;
pub mod device_conf;
mod event;
mod facts;
#[doc(hidden)]
pub mod fuzz;
pub mod hocon;
mod inspect;
mod json_document;
mod mask;
mod nearest;
mod problem;
pub mod pxp;
mod raw_connection_info;
mod regexp;
mod report;
mod resource;
mod secret_name;
mod sensitive;
pub mod task;
mod transport_schema;
mod type_schema;
pub mod types;
mod unique;
mod value;
mod value_count;
mod visible;
pub mod yaml;

pub use announced::{quotable, starred};
pub use attribute::{Attribute, Behaviour, Compare};
pub use event::{Event, EventDisplay, EventSink, Level, NullSink};
pub use facts::Facts;
pub use json_document::json_document;
pub use mask::{CUT, Mask, shortened};
pub use nearest::{did_you_mean, nearest, suggest};
pub use problem::{DefinitionProblem, DefinitionProblems};
pub use raw_connection_info::RawConnectionInfo;
pub use regexp::{Captures, Regexp, RegexpError, Runaway};
pub use report::{EventStatus, Report, ResourceEvent, ResourceReport, RunStatus, Seconds, Summary};
pub use resource::{Name, Resource};
pub use secret_name::is_secret_name;
pub use sensitive::{REDACTED, Sensitive};
pub use transport_schema::{ConnectionInfo, Group, InvalidConnectionInfo, Rule, TransportSchema};
pub use type_schema::{
    Example, Feature, HIDDEN_PROPERTY, InvalidResource, Related, RelationKind, ResourceProblem,
    Row, TypeSchema,
};
pub use types::{DataType, Mismatch, TypeError, Violation};
pub use unique::read_unique;
pub use value::{Hash, Key, Value};
pub use value_count::{MAX_VALUES, read_json, values};
pub use visible::visible;
