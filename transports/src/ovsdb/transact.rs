//! The outcome of a transaction (RFC 7047, 4.1.3): it applies all of its operations, or none.

use serde_json::{Value as Json, json};

use crate::error::Refused;

/// Returns the results of a transaction's operations, if all succeeded.
///
/// The results after a failed operation are null. If all operations succeeded but the transaction failed,
/// its error is an additional result after those of the operations.
///
/// # Errors
/// Fails with the operation that failed, and the reason.
pub(super) fn outcome(
    peer: &str,
    database: &str,
    operations: &[Json],
    results: Vec<Json>,
) -> Result<Vec<Json>, Box<Refused>> {
    let failed = results
        .iter()
        .position(|result| result.get("error").is_some());
    let Some(index) = failed else {
        return Ok(results);
    };
    let result = &results[index];
    let text = |json: &Json, key| json[key].as_str().unwrap_or_default().to_owned();
    let status = text(result, "error");
    // The operation may contain secrets, so only its name and its table are shown.
    let operation = operations.get(index);
    let (op, table) = operation.map_or_else(Default::default, |operation| {
        (text(operation, "op"), text(operation, "table"))
    });
    let request = match operation {
        Some(_) => format!("{op} {table}").trim_end().to_owned() + &place(index, operations.len()),
        None => format!("transact {database}"),
    };
    Err(Box::new(Refused {
        peer: peer.to_owned(),
        request,
        hint: hint(&status),
        message: text(result, "details"),
        details: Some(
            json!({
                "operation": operation.map(|_| index),
                "op": operation.map(|_| op),
                "table": operation.map(|_| table),
                "error": status,
                "details": result["details"],
            })
            .into(),
        ),
        status,
        busy: false,
    }))
}

/// Returns the position of one of several operations, counted from 1.
fn place(index: usize, count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        _ => format!(" (operation {} of {count})", index + 1),
    }
}

fn hint(error: &str) -> String {
    let nothing_changed = "nothing of the transaction took effect";
    match error {
        "referential integrity violation" => format!(
            "{nothing_changed}: a row refers to one that is not there; insert both in one \
             transaction, by `uuid-name` and `named-uuid`"
        ),
        _ => nothing_changed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations() -> Vec<Json> {
        vec![
            json!({ "op": "insert", "table": "Bridge", "row": { "secret": "canary" } }),
            json!({ "op": "mutate", "table": "Open_vSwitch" }),
        ]
    }

    fn refused(results: Json) -> Box<Refused> {
        let results = results.as_array().expect("a list").clone();
        outcome("192.0.2.1:6640", "db", &operations(), results).expect_err("it failed")
    }

    #[test]
    fn results_without_errors_are_the_results() {
        let results = vec![json!({ "uuid": ["uuid", "x"] }), json!({ "count": 1 })];
        let outcome = outcome("p", "db", &operations(), results.clone());
        assert_eq!(outcome.expect("all went well"), results);
    }

    #[test]
    fn the_operation_that_failed_is_named_and_not_quoted() {
        let failed = json!({ "error": "unknown column", "details": "no column named x" });
        let refused = refused(json!([failed, null]));
        assert_eq!(refused.request, "insert Bridge (operation 1 of 2)");
        assert_eq!(refused.status, "unknown column");
        assert_eq!(refused.message, "no column named x");
        let details = refused.details.as_ref().expect("details").to_json();
        assert_eq!(details["operation"], 0);
        assert!(!format!("{refused:?}").contains("canary"));
    }

    #[test]
    fn an_error_behind_all_results_is_the_transactions() {
        let failed = json!({ "error": "constraint violation", "details": "0 rows" });
        let refused = refused(json!([{ "uuid": ["uuid", "x"] }, { "count": 1 }, failed]));
        assert_eq!(refused.request, "transact db");
        assert_eq!(refused.status, "constraint violation");
        assert!(refused.hint.contains("nothing of the transaction"));
    }
}
