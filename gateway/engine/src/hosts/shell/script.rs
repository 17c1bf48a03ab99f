//! The input of a host's shell: command lines that mean the same to every login shell, and scripts for the POSIX shell
//! that they start. On this node, there is no login shell, and the words are the same.
//!
//! A command line can be read by everybody on a host, and it passes through the login shell (`csh`, `fish`) first. So
//! it is always `exec sh -c 'SCRIPT' MARK`, with a constant script that contains no `'`, no `!` and no line end.
//! Everything variable comes in lines on standard input, which `read -r` takes byte by byte. MARK is new each time. A
//! script prints it first, so that the output of the login shell is told from that of the script. It is also the
//! script's `$0`, so that the shell's own errors are told from a task's.

use devgate_schemas::Sensitive;
use uuid::Uuid;

/// Creates the private directory that is named on standard input, unless it is there, and prints the host's features.
/// A `+` precedes the interpreter in which a relay can run.
const PREPARE: &str = r#"umask 077; IFS= read -r d; mkdir -m 700 -- "$d" || exit 1; f=shell;
command -v pwsh >/dev/null 2>&1 && f="$f powershell";
[ -x /opt/puppetlabs/puppet/bin/ruby ] && f="$f puppet-agent";
if perl -MSocket -MErrno -e 1; then f="$f +perl"; elif python3 -c "import json"; then f="$f +python3"; fi 2>/dev/null </dev/null;
printf "%s\n" "$f""#;

/// Replaces itself with a relay: its interpreter, its file and the path of its socket are lines of the input, and the
/// rest is for the relay.
const RELAY: &str = r#"IFS= read -r i; IFS= read -r f; IFS= read -r s; export DEVGATE_TASK="$0";
exec "$i" "$f" "$s""#;

/// Writes a file. Its path and its permissions are lines of the input; its content follows them.
const WRITE: &str = r#"umask 077; IFS= read -r p; IFS= read -r m; mkdir -p -- "${p%/*}" &&
cat >"$p" && chmod "$m" "$p""#;

/// Prints those programs of the input's lines that are not there.
const MISSING: &str =
    r#"while IFS= read -r p; do command -v "$p" >/dev/null 2>&1 || printf "%s\n" "$p"; done"#;

/// Removes a directory of ours.
const REMOVE: &str = r#"IFS= read -r d; case $d in */devgate-*) rm -rf -- "$d";; *) exit 1;; esac"#;

/// Runs a task. `+` precedes each line of a value. After the lines of a value, `=NAME` makes a variable of it, `@` a
/// word of the task's command line, `:` the first folder of its PATH, and `,FOLDER` a program `devgate` in a new folder.
/// A line with MARK alone ends the list, and the rest is the task's input. Before it waits for these lines, the script
/// prints the process group in which the task will run. When the lines end too early, nothing is run.
///
/// The process group is never another's: that of Dropbear's commands contains the server of the connection. If the
/// shell has no group of its own, the task starts in a new one. Where no program can make one, `-` is printed.
const RUN: &str = r#"n=$0; set -f; d=; f=; v=; l=; g=$$; w=;
if kill -0 -$$ 2>/dev/null; then :; elif command -v setsid >/dev/null 2>&1; then w=setsid;
elif perl -e 1 2>/dev/null </dev/null; then w=perl; else g=-; fi;
printf "%s %s\n" "$n" "$g";
while IFS= read -r l; do case $l in "$n") d=1; break;;
+*) if [ "$f" ]; then [ "$e" ] || { e=$(printf "\nx"); e=${e%x}; }; v=$v$e${l#+}; else v=${l#+}; f=1; fi;;
=*) export "${l#=}=$v"; f=;; @) set -- "$@" "$v"; f=;;
:) export PATH="$v:$PATH"; f=;;
,*) (umask 077; l=${l#,}; mkdir -p "$l" && printf "%s\n" "$v" >"$l/devgate" && chmod 700 "$l/devgate") 2>/dev/null; f=;;
esac; done; [ "$d" ] || exit 1; set +f; export DEVGATE_TASK="$n";
[ "$w" ] && set -- sh -c "IFS=; set -f; exec $""@" "$n" "$@";
case $w in setsid) exec setsid "$@";; perl) exec perl -e "setpgrp; exec @ARGV" "$@";; *) exec "$@";; esac"#;

/// Ends what is left of a task: the process ($1) that leads it, those of its process group or session, which have the
/// same number, and those that carry its mark ($2) in their environment. It sends SIGTERM first, and SIGKILL after so
/// many tenths of a second ($3). Then it prints the processes that still live. Zombies count as gone, where /proc shows
/// them.
const END: &str = r#"g=$1; m=$2; t=$3;
look() { a=; if [ -r /proc/self/stat ]; then
for f in /proc/[0-9]*/stat; do { IFS= read -r l <"$f"; } 2>/dev/null || continue;
p=${f#/proc/}; p=${p%/stat}; set -- ${l##*) };
case $1 in Z|X) continue;; esac;
if [ "$p" = "$g" ] || [ "$3" = "$g" ] || [ "$4" = "$g" ]; then a="$a $p"; fi; done;
for f in $(grep -l -F "DEVGATE_TASK=$m" /proc/[0-9]*/environ 2>/dev/null); do
p=${f#/proc/}; p=${p%/environ}; IFS= read -r l <"/proc/$p/stat" || continue; set -- ${l##*) };
case $1 in Z|X) continue;; esac; case " $a " in *" $p "*) ;; *) a="$a $p";; esac; done 2>/dev/null;
elif kill -0 "-$g" 2>/dev/null; then a=" -$g"; elif kill -0 "$g" 2>/dev/null; then a=" $g"; fi; };
nap() { sleep 0.1 2>/dev/null || sleep 1; };
i=0; look; if [ "$a" ] && [ "$t" -gt 0 ]; then kill -s TERM $a 2>/dev/null; kill -s CONT $a 2>/dev/null;
while [ "$a" ] && [ $i -lt "$t" ]; do nap; i=$((i+1)); look; done; fi;
i=0; while [ "$a" ] && [ $i -lt 30 ]; do kill -s KILL $a 2>/dev/null; nap; i=$((i+1)); look; done;
for p in $a; do c=; { IFS= read -r c <"/proc/$p/comm"; } 2>/dev/null; b="$b $p${c:+ ($c)}"; done;
printf "%s\n" "$b""#;

/// One call of a host's shell.
pub(super) struct Script {
    /// The mark that the script prints first.
    pub(super) mark: String,
    /// The words of the command line behind `sh`.
    argv: Vec<String>,
    /// The script's own input, followed by that of a task.
    pub(super) input: Sensitive<Vec<u8>>,
}

/// The folder in which a task finds its `devgate`.
pub(super) struct SessionFolder<'a> {
    pub(super) path: &'a str,
    /// The program, unless it is there already.
    pub(super) devgate: Option<&'a str>,
}

/// A word that cannot be passed through every login shell.
#[derive(Debug)]
pub(super) struct UnquotableWord;

impl Script {
    pub(super) fn prepare(dir: &str) -> Self {
        Self::new(PREPARE, &[], lines(&[dir]))
    }

    pub(super) fn write(path: &str, mode: u32, content: &[u8]) -> Self {
        let mut input = lines(&[path, &format!("{mode:o}")]);
        input.extend_from_slice(content);
        Self::new(WRITE, &[], input)
    }

    pub(super) fn missing(programs: &[&str]) -> Self {
        Self::new(MISSING, &[], lines(programs))
    }

    pub(super) fn remove(dir: &str) -> Self {
        Self::new(REMOVE, &[], lines(&[dir]))
    }

    /// Ends a task. If the group is not known, only the processes that carry the mark are ended.
    pub(super) fn end(group: Option<u32>, mark: &str, tenths: u64) -> Self {
        // No group has this name.
        let group = group.map_or_else(|| "-".to_owned(), |group| group.to_string());
        let arguments = [group, mark.to_owned(), tenths.to_string()];
        Self::new(END, &arguments, Vec::new())
    }

    /// Runs a task: see [`set_task`](Self::set_task).
    pub(super) fn run() -> Self {
        Self::new(RUN, &[], Vec::new())
    }

    /// Starts the relay in this file for this socket.
    pub(super) fn relay(interpreter: &str, file: &str, socket: &str) -> Self {
        Self::new(RELAY, &[], lines(&[interpreter, file, socket]))
    }

    /// Sets what is run: these words with these variables. `session` is the folder in which programs are looked
    /// for first, and `stdin` the input.
    pub(super) fn set_task(
        &mut self,
        argv: &[String],
        environment: &[(String, Sensitive<String>)],
        session: Option<SessionFolder<'_>>,
        stdin: Option<&Sensitive<Vec<u8>>>,
    ) {
        let mut input = Vec::new();
        let mut line = |parts: [&str; 2]| {
            let parts = parts.into_iter().chain(["\n"]);
            input.extend(parts.flat_map(str::bytes));
        };
        for word in argv {
            word.split('\n').for_each(|text| line(["+", text]));
            line(["@", ""]);
        }
        if let Some(SessionFolder { path, devgate }) = session {
            if let Some(devgate) = devgate {
                devgate.split('\n').for_each(|text| line(["+", text]));
                line([",", path]);
            }
            line(["+", path]);
            line([":", ""]);
        }
        for (name, value) in environment {
            value
                .reveal()
                .split('\n')
                .for_each(|text| line(["+", text]));
            line(["=", name]);
        }
        line(["", &self.mark]);
        if let Some(stdin) = stdin {
            input.extend_from_slice(stdin.reveal());
        }
        self.input = Sensitive::new(input);
    }

    fn new(script: &str, arguments: &[String], input: Vec<u8>) -> Self {
        let mark = Uuid::new_v4().simple().to_string();
        // The program that changes the user reads standard input, too, until the script has printed its mark. RUN
        // prints more than the mark, and does so itself.
        let begin = if script == RUN {
            ""
        } else {
            r#"printf "%s\n" "$0"; "#
        };
        let script = format!("{begin}{}", script.replace('\n', " "));
        let argv = ["-c".to_owned(), script, mark.clone()].into_iter();
        Self {
            mark,
            argv: argv.chain(arguments.iter().cloned()).collect(),
            input: Sensitive::new(input),
        }
    }

    /// Returns the words that start the script, behind those that change the user.
    pub(super) fn argv<'a>(&'a self, prefix: &'a [String]) -> impl Iterator<Item = &'a str> {
        let argv = self.argv.iter().map(String::as_str);
        prefix.iter().map(String::as_str).chain(["sh"]).chain(argv)
    }

    /// Returns the words as one command line for a login shell.
    ///
    /// # Errors
    /// Fails when a word contains a character that login shells interpret differently.
    pub(super) fn command_line(&self, prefix: &[String]) -> Result<String, UnquotableWord> {
        let mut command = "exec".to_owned();
        for word in self.argv(prefix) {
            command.push(' ');
            command.push_str(&quoted(word)?);
        }
        Ok(command)
    }
}

/// Quotes a word so that every login shell reads it alike: bare, or within `'`, where only `'`, `!`, `\` and line ends
/// may have a special meaning.
fn quoted(word: &str) -> Result<String, UnquotableWord> {
    let bare = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(bare) {
        return Ok(word.to_owned());
    }
    // `\n` is for printf in the scripts: before an `n`, every login shell leaves `\` alone.
    let harmless = word.replace("\\n", "");
    if harmless.contains(['\'', '!', '\\', '\n', '\r']) {
        return Err(UnquotableWord);
    }
    Ok(format!("'{word}'"))
}

fn lines(lines: &[&str]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| [line, "\n"])
        .collect::<String>()
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn every_command_line_is_one_that_all_login_shells_take_alike() {
        let environment = [("PT_a".to_owned(), Sensitive::new("canary'!\n".to_owned()))];
        let mut run = Script::run();
        run.set_task(&["it's".to_owned()], &environment, None, None);
        let scripts = [
            Script::prepare("/tmp/devgate-x"),
            Script::write("/tmp/devgate-x/t", 0o700, b"canary"),
            Script::missing(&["canary"]),
            Script::remove("/tmp/devgate-x"),
            Script::end(Some(7), "mark", 20),
            Script::relay("perl", "/tmp/devgate-x/session/relay", "/tmp/canary"),
            run,
        ];
        for script in scripts {
            let command_line = script.command_line(&[]).expect("it can be quoted");
            assert!(command_line.starts_with("exec sh -c '"), "{command_line}");
            assert_eq!(command_line.matches('\'').count(), 2, "{command_line}");
            assert!(!command_line.contains(['!', '\n']), "{command_line}");
            assert!(!command_line.contains("canary"), "{command_line}");
            assert!(command_line.contains(&script.mark));
        }
        let odd = ["it's", "wow!", "a\\b", "a\nb"];
        for word in odd {
            let prefix = [word.to_owned()];
            assert!(Script::remove("/").command_line(&prefix).is_err(), "{word}");
        }
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "spawn.rs gives each child a group of its own"
    )]
    fn a_task_runs_in_a_group_of_its_own_even_if_its_shell_does_not() {
        let mut script = Script::run();
        let text = r#"IFS= read -r l </proc/$$/stat; set -- "$1" "$2" "$3" ${l##*) }; printf "%s|" "$$" "$6" "$1" "$2""#;
        let words = ["sh", "-c", text, "sh", "a  *", "b\nc", "d"].map(str::to_owned);
        script.set_task(&words, &[], None, None);
        // A child is in the group of its parent.
        let mut child = Command::new("sh")
            .args(script.argv(&[]).skip(1))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh starts");
        let mut stdin = child.stdin.take().expect("its input");
        stdin.write_all(script.input.reveal()).expect("it reads");
        drop(stdin);
        let pid = child.id();
        let output = child.wait_with_output().expect("it ends").stdout;
        let expected = format!("{} {pid}\n{pid}|{pid}|a  *|b\nc|", script.mark);
        assert_eq!(String::from_utf8_lossy(&output), expected);
    }

    #[test]
    fn words_and_values_go_line_by_line_and_what_the_task_reads_behind_them() {
        let environment = [("PT_a".to_owned(), Sensitive::new("1\n\n2".to_owned()))];
        let stdin = Sensitive::new(b"{}".to_vec());
        let mut script = Script::run();
        let words = ["/t".to_owned()];
        let session = SessionFolder {
            path: "/s",
            devgate: None,
        };
        script.set_task(&words, &environment, Some(session), Some(&stdin));
        let input = format!("+/t\n@\n+/s\n:\n+1\n+\n+2\n=PT_a\n{}\n{{}}", script.mark);
        assert_eq!(script.input.reveal(), input.as_bytes());
    }

    #[test]
    fn a_devgate_is_written_before_it_is_first_in_the_path() {
        let mut script = Script::run();
        let session = SessionFolder {
            path: "/s",
            devgate: Some("a\nb"),
        };
        script.set_task(&["/t".to_owned()], &[], Some(session), None);
        let input = format!("+/t\n@\n+a\n+b\n,/s\n+/s\n:\n{}\n", script.mark);
        assert_eq!(script.input.reveal(), input.as_bytes());
    }
}
