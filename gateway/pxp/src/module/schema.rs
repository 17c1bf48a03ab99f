//! Reads the parts of a request with their schemas.

use devgate_core::failure::Failure;
use devgate_schemas::derived;
use devgate_schemas::pxp::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

/// Reads a part of a request, which must match its schema.
///
/// # Errors
/// What does not match. Keys are named, and no value is quoted.
pub(super) fn read_part<T>(what: &str, value: Json) -> Result<T, Failure>
where
    T: DeserializeOwned + schemars::JsonSchema,
{
    let invalid = |why: String| {
        Failure::new(
            &format!("devgate/invalid-{what}"),
            format!("the request's `{what}`: {why}"),
        )
    };
    let schema = JsonSchema::new(&derived::schema::<T>()).expect("our schemas are schemas");
    schema
        .check(&value)
        .map_err(|mismatch| invalid(mismatch.to_string()))?;
    // Its errors may quote a value.
    serde_json::from_value(value).map_err(|_| invalid("a number in it is out of range".to_owned()))
}
