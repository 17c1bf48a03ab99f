//! `resource_get`: what devices hold, of one type.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Action, Operation, Setting, Value, Whom};
use crate::device_run::Strict;
use crate::operations::{Inspect, Splay};
use crate::pxp::serve::schema::{list, open, word};

#[derive(Deserialize)]
pub(super) struct ResourceGet {
    #[serde(flatten)]
    whom: Whom,
    #[serde(rename = "type")]
    type_name: String,
    title: Option<String>,
}

impl Action for ResourceGet {
    const NAME: &str = "resource_get";
    const ABOUT: &str = "Reads the resources of a type, or one of them, from devices";
    const ITEMS: &str = "device";
    const REQUIRED: &[&str] = &["type"];

    fn input() -> Json {
        json!({
            "type": word("The resource type: frr_interface"),
            "title": word("The title of one resource (default: all of the type)"),
        })
    }

    fn value() -> Value {
        let resource = open(
            "The attributes of a resource, as its type has them",
            json!({}),
        );
        Value::Closed(json!({ "resources": list("The resources", resource) }))
    }

    fn operation(self, _: &Setting) -> anyhow::Result<(Whom, Operation)> {
        let inspect = Inspect {
            type_name: self.type_name,
            title: self.title,
            as_yaml: false,
            strict: Strict::Error,
            splay: Splay::within(0),
        };
        Ok((self.whom, Operation::Inspect(inspect)))
    }
}
