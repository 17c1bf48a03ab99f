//! eAPI calls: JSON-RPC 2.0 with the single method `runCmds` (Arista, "Command API Guide").

use devgate_schemas::Value;
use serde_json::{Value as Json, json};

use crate::Line;
use crate::command_list::{Ran, RefusedCommand};

/// The format of the device's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Text, as on the command line.
    Text,
    /// Structured data.
    Json,
}

/// An error that concerns the whole call and not a command.
#[derive(Debug, PartialEq)]
pub(super) struct CallError {
    /// The error code of JSON-RPC or eAPI.
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) whole: Value,
}

/// The error code for a command without structured output.
pub(super) const NO_JSON: i64 = 1003;

/// The line that ends a banner.
const TEXT_END: &str = "EOF";

/// Returns the body of a call, and for each of its commands the index in the list. `enable_password` is the answer to
/// the command `enable`, and the lines of a banner are the answer to the line that opens it.
pub(super) fn body(
    list: &[Line],
    enable_password: Option<&Line>,
    format: Format,
) -> (Json, Vec<usize>) {
    let (mut commands, mut indices): (Vec<Json>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut rest = list.iter().map(Line::text).enumerate();
    while let Some((index, command)) = rest.next() {
        indices.push(index);
        commands.push(match (command.trim(), enable_password) {
            ("enable", Some(password)) => json!({ "cmd": "enable", "input": password.text() }),
            (banner @ ("banner login" | "banner motd"), _) => {
                let mut lines: Vec<&str> = Vec::new();
                while lines.last().is_none_or(|line| line.trim() != TEXT_END)
                    && let Some((_, line)) = rest.next()
                {
                    lines.push(line);
                }
                json!({ "cmd": banner, "input": lines.join("\n") })
            }
            _ => command.into(),
        });
    }
    let format = match format {
        Format::Text => "text",
        Format::Json => "json",
    };
    let body = json!({
        "jsonrpc": "2.0",
        "id": "devgate",
        "method": "runCmds",
        "params": { "version": 1, "format": format, "cmds": commands },
    });
    (body, indices)
}

/// Reads an answer. Returns `None` if it is not an answer of eAPI.
pub(super) fn read(mut answer: Json, format: Format) -> Option<Result<Ran<Json>, CallError>> {
    if let Some(Json::Array(outputs)) = answer.get_mut("result").map(Json::take) {
        let outputs = outputs
            .into_iter()
            .map(|output| into_output(output, format));
        return Some(Ok(Ran {
            outputs: outputs.collect(),
            refused: None,
        }));
    }
    let error = answer.get("error")?.as_object()?;
    let code = error.get("code")?.as_i64()?;
    let message = error
        .get("message")
        .and_then(Json::as_str)
        .unwrap_or_default();
    let Some((last, before)) = error
        .get("data")
        .and_then(Json::as_array)
        .and_then(|data| data.split_last())
    else {
        return Some(Err(CallError {
            code,
            message: message.to_owned(),
            whole: Value::from(Json::Object(error.clone())),
        }));
    };
    let errors = last["errors"].as_array().into_iter().flatten();
    let errors: Vec<&str> = errors.filter_map(Json::as_str).collect();
    let mut message = if errors.is_empty() {
        message.to_owned()
    } else {
        errors.join("\n")
    };
    if code == NO_JSON {
        message.push_str(": it has no output as data, ask for it as a command");
    }
    let outputs = before.iter().cloned();
    Some(Ok(Ran {
        outputs: outputs.map(|output| into_output(output, format)).collect(),
        refused: Some(RefusedCommand {
            at: before.len(),
            message,
        }),
    }))
}

fn into_output(mut output: Json, format: Format) -> Json {
    match format {
        Format::Text => output.get_mut("output").map_or(Json::Null, Json::take),
        Format::Json => output,
    }
}

#[cfg(test)]
mod tests {
    use devgate_schemas::Sensitive;

    use super::*;

    #[test]
    fn enable_is_answered_with_its_password() {
        let password = Line::secret(Sensitive::new("canary".to_owned()));
        let commands = [Line::new("enable"), Line::new("show version")];
        let (body, _) = body(&commands, Some(&password), Format::Text);
        assert_eq!(
            body["params"],
            json!({
                "version": 1,
                "format": "text",
                "cmds": [{ "cmd": "enable", "input": "canary" }, "show version"],
            })
        );
    }

    #[test]
    fn the_lines_of_a_banner_are_its_input() {
        let lines = ["configure", "banner motd", "one", "", "EOF", "end"].map(Line::new);
        let (body, indices) = body(&lines, None, Format::Json);
        let banner = json!({ "cmd": "banner motd", "input": "one\n\nEOF" });
        assert_eq!(body["params"]["cmds"], json!(["configure", banner, "end"]));
        assert_eq!(indices, [0, 1, 5]);
    }

    #[test]
    fn outputs_are_texts_or_data() {
        let answer = json!({ "jsonrpc": "2.0", "id": "devgate", "result": [{ "output": "a\n" }] });
        let ran = read(answer.clone(), Format::Text).expect("an answer");
        assert_eq!(ran.expect("it went well").outputs, [json!("a\n")]);
        let ran = read(answer, Format::Json).expect("an answer");
        assert_eq!(
            ran.expect("it went well").outputs,
            [json!({ "output": "a\n" })]
        );
    }

    #[test]
    fn the_command_that_failed_is_known_by_what_came_before_it() {
        let answer = json!({
            "jsonrpc": "2.0", "id": "devgate",
            "error": {
                "code": 1002,
                "message": "CLI command 2 of 3 'shw' failed: invalid command",
                "data": [{}, { "errors": ["Invalid input (at token 0: 'shw')"] }],
            },
        });
        let ran = read(answer, Format::Json)
            .expect("an answer")
            .expect("commands ran");
        assert_eq!(ran.outputs, [json!({})]);
        let refused = ran.refused.expect("one failed");
        assert_eq!(refused.at, 1);
        assert_eq!(refused.message, "Invalid input (at token 0: 'shw')");
    }

    #[test]
    fn an_error_of_the_call_belongs_to_no_command() {
        let answer = json!({ "error": { "code": -32602, "message": "Invalid params" } });
        let error = read(answer, Format::Json)
            .expect("an answer")
            .expect_err("an error");
        assert_eq!(
            (error.code, error.message.as_str()),
            (-32602, "Invalid params")
        );
        for other in [json!({}), json!([]), json!("x"), json!({ "result": {} })] {
            assert_eq!(read(other, Format::Json), None);
        }
    }
}
