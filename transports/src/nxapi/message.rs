//! The two message formats in which NX-API accepts commands (Cisco, "NX-OS Programmability Guide", NX-API
//! CLI): JSON-RPC 2.0, and the older `ins_api`.

use serde_json::{Value as Json, json};

use crate::Line;
use crate::command_list::{Ran, RefusedCommand};

/// The message format for commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageFormat {
    /// JSON-RPC, with one call for each command.
    JsonRpc,
    /// `ins_api`, with all commands in one text.
    InsApi,
}

/// The purpose of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandKind<'a> {
    /// Showing text.
    Text,
    /// Showing structured data.
    Data,
    /// Configuring. `rollback` tells the device what to do if a line is refused.
    Configuration { rollback: &'a str },
}

/// An answer without the outcome of any command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnclearError {
    pub(super) code: String,
    pub(super) message: String,
}

impl MessageFormat {
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::JsonRpc => "application/json-rpc",
            Self::InsApi => "application/json",
        }
    }

    /// Returns the request body for these commands.
    pub(super) fn body(self, commands: &[Line], kind: CommandKind<'_>) -> Json {
        match self {
            Self::JsonRpc => {
                let calls = commands.iter().zip(1..);
                calls.map(|(command, id)| call(command, id, kind)).collect()
            }
            Self::InsApi => ins_api(commands, kind),
        }
    }

    /// Reads the answer to `count` commands. Returns `None` if it is not an answer of NX-API.
    pub(super) fn read(
        self,
        answer: Json,
        count: usize,
    ) -> Option<Result<Ran<Json>, UnclearError>> {
        match self {
            Self::JsonRpc => read_calls(answer),
            Self::InsApi => read_ins_api(answer, count),
        }
    }
}

fn call(command: &Line, id: usize, kind: CommandKind<'_>) -> Json {
    let method = if kind == CommandKind::Text {
        "cli_ascii"
    } else {
        "cli"
    };
    let mut call = json!({
        "jsonrpc": "2.0",
        "method": method,
        "params": { "cmd": command.text(), "version": 1 },
        "id": id,
    });
    if let CommandKind::Configuration { rollback } = kind {
        call["rollback"] = rollback.into();
    }
    call
}

fn read_calls(answer: Json) -> Option<Result<Ran<Json>, UnclearError>> {
    let answers = match answer {
        Json::Array(answers) => answers,
        one => vec![one],
    };
    let mut ran = Ran {
        outputs: Vec::new(),
        refused: None,
    };
    for (position, mut answer) in answers.into_iter().enumerate() {
        if let Some(error) = answer.get("error") {
            let message = [&error["data"]["msg"], &error["data"], &error["message"]];
            let message = message
                .into_iter()
                .find_map(Json::as_str)
                .unwrap_or_default();
            let message = message.trim().to_owned();
            let Some(id) = answer["id"]
                .as_u64()
                .and_then(|id| usize::try_from(id).ok())
            else {
                let code = error["code"].to_string();
                return Some(Err(UnclearError { code, message }));
            };
            let at = id.checked_sub(1).unwrap_or(position);
            ran.refused = Some(RefusedCommand { at, message });
            break;
        }
        let result = answer.get_mut("result")?.take();
        ran.outputs.push(output(result));
    }
    Some(Ok(ran))
}

/// Returns a command's output: data from `body`, or text from `msg`. A command without output has neither.
fn output(mut result: Json) -> Json {
    for key in ["body", "msg"] {
        if let Some(output) = result.get_mut(key) {
            return output.take();
        }
    }
    result
}

fn ins_api(commands: &[Line], kind: CommandKind<'_>) -> Json {
    let input: Vec<&str> = commands.iter().map(Line::text).collect();
    let kind_name = match kind {
        CommandKind::Text => "cli_show_ascii",
        CommandKind::Data => "cli_show",
        CommandKind::Configuration { .. } => "cli_conf",
    };
    let mut message = json!({
        "version": "1.0",
        "type": kind_name,
        "chunk": "0",
        "sid": "1",
        "input": input.join(SEPARATOR),
        "output_format": "json",
    });
    if let CommandKind::Configuration { rollback } = kind {
        message["rollback"] = rollback.into();
    }
    json!({ "ins_api": message })
}

/// The separator between commands in an `ins_api` message.
pub(super) const SEPARATOR: &str = " ;";

fn read_ins_api(mut answer: Json, count: usize) -> Option<Result<Ran<Json>, UnclearError>> {
    let answers = match answer.pointer_mut("/ins_api/outputs/output")?.take() {
        Json::Array(answers) => answers,
        one => vec![one],
    };
    let told_apart = answers.len() > 1 || count == 1;
    let mut ran = Ran {
        outputs: Vec::new(),
        refused: None,
    };
    for (at, mut answer) in answers.into_iter().enumerate() {
        let code = match answer.get("code")? {
            Json::String(code) => code.clone(),
            code => code.to_string(),
        };
        if code == "200" {
            let body = answer.get_mut("body").map(Json::take);
            ran.outputs.push(body.unwrap_or_default());
            continue;
        }
        let message = ["clierror", "body", "msg"].into_iter();
        let message = message
            .filter_map(|key| answer[key].as_str().map(str::trim))
            .find(|message| !message.is_empty())
            .unwrap_or_default()
            .to_owned();
        if !told_apart {
            return Some(Err(UnclearError { code, message }));
        }
        ran.refused = Some(RefusedCommand { at, message });
        break;
    }
    Some(Ok(ran))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands() -> Vec<Line> {
        ["interface Ethernet1/1", "shutdown"]
            .map(Line::new)
            .to_vec()
    }

    #[test]
    fn json_rpc_has_a_call_for_each_command() {
        let configuration = CommandKind::Configuration {
            rollback: "rollback-on-error",
        };
        let body = MessageFormat::JsonRpc.body(&commands(), configuration);
        assert_eq!(
            body[1],
            json!({
                "jsonrpc": "2.0", "method": "cli", "id": 2, "rollback": "rollback-on-error",
                "params": { "cmd": "shutdown", "version": 1 },
            })
        );
        let body = MessageFormat::JsonRpc.body(&commands(), CommandKind::Text);
        assert_eq!(
            (&body[0]["method"], &body[0]["rollback"]),
            (&json!("cli_ascii"), &Json::Null)
        );
    }

    #[test]
    fn ins_api_has_all_commands_in_one_text() {
        let body = MessageFormat::InsApi.body(&commands(), CommandKind::Text);
        let message = &body["ins_api"];
        assert_eq!(message["type"], "cli_show_ascii");
        assert_eq!(message["input"], "interface Ethernet1/1 ;shutdown");
    }

    #[test]
    fn a_call_that_failed_is_known_by_its_id() {
        let answer = json!([
            { "jsonrpc": "2.0", "id": 1, "result": null },
            { "jsonrpc": "2.0", "id": 2, "error": {
                "code": -32602, "message": "Invalid params", "data": { "msg": "% Invalid command\n" } } },
        ]);
        let ran = MessageFormat::JsonRpc
            .read(answer, 3)
            .expect("an answer")
            .expect("it is clear");
        assert_eq!(ran.outputs, [Json::Null]);
        let message = "% Invalid command".to_owned();
        assert_eq!(ran.refused, Some(RefusedCommand { at: 1, message }));
    }

    #[test]
    fn outputs_are_found_where_either_message_has_them() {
        let text = json!({ "jsonrpc": "2.0", "id": 1, "result": { "msg": "text\n" } });
        let data = json!({ "jsonrpc": "2.0", "id": 1, "result": { "body": { "a": 1 } } });
        let older = json!({ "ins_api": { "outputs": { "output": {
            "input": "show x", "msg": "Success", "code": "200", "body": { "a": 1 } } } } });
        for (message, answer, expected) in [
            (MessageFormat::JsonRpc, text, json!("text\n")),
            (MessageFormat::JsonRpc, data, json!({ "a": 1 })),
            (MessageFormat::InsApi, older, json!({ "a": 1 })),
        ] {
            let ran = message
                .read(answer, 1)
                .expect("an answer")
                .expect("it is clear");
            assert_eq!(ran.outputs, [expected]);
        }
    }

    #[test]
    fn one_output_for_many_lines_does_not_say_which_failed() {
        let answer = json!({ "ins_api": { "outputs": { "output": {
            "msg": "Input CLI command error", "code": "400", "clierror": "% Invalid command\n" } } } });
        let read = MessageFormat::InsApi
            .read(answer.clone(), 2)
            .expect("an answer");
        let message = "% Invalid command".to_owned();
        assert_eq!(
            read,
            Err(UnclearError {
                code: "400".to_owned(),
                message: message.clone()
            })
        );
        let read = MessageFormat::InsApi
            .read(answer, 1)
            .expect("an answer")
            .expect("it is clear");
        assert_eq!(read.refused, Some(RefusedCommand { at: 0, message }));
    }

    #[test]
    fn answers_of_another_format_are_rejected() {
        for message in [MessageFormat::JsonRpc, MessageFormat::InsApi] {
            for other in [json!({}), json!("x"), json!([{}])] {
                assert_eq!(message.read(other, 1), None);
            }
        }
    }
}
