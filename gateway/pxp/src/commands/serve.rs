//! `devgate pxp serve`: acts as a PXP module, with this command or under another name of the program.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;
use devgate_core::failure::Failure;
use devgate_front::exit_status::ExitStatus;
use devgate_front::options::GlobalOptions;
use devgate_front::printer::Printer;

use crate::module;

/// Act as a PXP module: print the metadata, or run the action of a request on stdin
///
/// A link to devgate with another name, in a folder of modules, does the same without arguments. A one-line script can
/// also pass options: `exec devgate --project DIR pxp serve "$@"`.
#[derive(Args, Debug)]
#[command(
    after_help = "Exit codes: 0 success, 1 a target failed or the request was invalid, 5 the files of `output_files` \
                  cannot be written, 142 time limit exceeded, 143 ended by SIGTERM.\n\nExample:\n  echo '{\"input\": \
                  {\"targets\": \"all\"}}' | devgate pxp serve verify"
)]
pub struct Serve {
    /// The action; `metadata` or no action prints the metadata of the module
    action: Option<String>,
}

impl Serve {
    pub(super) async fn run(self, global: &GlobalOptions, printer: &Printer) -> ExitStatus {
        module::serve(self.action.as_deref(), global, printer).await
    }
}

/// The error that a module cannot have the name `devgate`. pxp-agent logs it.
pub fn name_is_not_allowed() -> Failure {
    let message = "a PXP module cannot have the name `devgate`: link to devgate with another name, such as `gateway`, \
                   or use a script, `exec devgate pxp serve \"$@\"`";
    Failure::new("devgate/usage", message)
}

/// The words of a command line. If the program has another name and at most one word, which is not an option, it is
/// called as a module: the words are those of `devgate pxp serve`.
pub fn words(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let given: Vec<OsString> = given.collect();
    let Some((program, words)) = given.split_first() else {
        return given;
    };
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let name = Path::new(program).file_name();
    // A login shell has a dash before its name.
    if name.is_none_or(|name| name == "devgate" || name == "-devgate")
        || words.len() > 1
        || words.iter().any(is_option)
    {
        return given;
    }
    let ours = ["devgate", "pxp", "serve"].map(OsString::from);
    ours.into_iter().chain(words.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_name_and_at_most_one_word_make_a_module() {
        for (line, module) in [
            ("devgate", None),
            ("/usr/bin/devgate verify", None),
            ("/m/gw", Some("")),
            ("/m/gw metadata", Some("metadata")),
            ("gw anything", Some("anything")),
            ("gw --version", None),
            ("gw -h", None),
            ("gw verify -t", None),
            ("gw task show", None),
        ] {
            let expected = match module {
                Some(word) => format!("devgate pxp serve {word}"),
                None => line.to_owned(),
            };
            let words = words(line.split(' ').map(OsString::from)).join(" ".as_ref());
            assert_eq!(words, *expected.trim_end(), "{line}");
        }
    }
}
