//! The results of the commands: figures by habit and by kind, and each result that is not right.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write as _;

use crate::device::answer::Expected;
use crate::plan::Batch;

/// A command and its result.
pub(crate) struct JudgedCommand {
    pub(crate) batch: Batch,
    pub(crate) command: String,
    pub(crate) expected: Expected,
    pub(crate) verdict: Verdict,
}

pub(crate) enum Verdict {
    /// Identical to the byte.
    Right,
    /// A true error, although the output could have been read.
    Failed(String),
    /// Something other than the output, without an error; or a key was pressed without permission.
    Wrong(String),
}

/// The numbers of right, failed and wrong results.
#[derive(Clone, Copy, Default)]
struct Tally([usize; 3]);

#[derive(Default)]
pub(crate) struct Report {
    all: Tally,
    habits: BTreeMap<String, Tally>,
    kinds: BTreeMap<String, Tally>,
    findings: Vec<String>,
    /// The number of findings that have been printed.
    printed: usize,
}

/// The maximum number of findings that are printed.
const MAX_REPORTED: usize = 400;

impl Report {
    pub(crate) fn add(&mut self, judged: JudgedCommand) {
        let JudgedCommand {
            batch,
            command,
            expected,
            verdict,
        } = judged;
        let (column, finding) = match &verdict {
            Verdict::Right => (0, None),
            Verdict::Failed(why) => (1, Some(format!("FAILED {}", why.trim()))),
            Verdict::Wrong(what) => (2, Some(format!("WRONG {what}"))),
        };
        let habit = batch.user.split('.').next().unwrap_or_default().to_owned();
        let kind = command.split(' ').nth(1).unwrap_or_default().to_owned();
        self.all.0[column] += 1;
        self.habits.entry(habit).or_default().0[column] += 1;
        self.kinds.entry(kind).or_default().0[column] += 1;
        if let Some(finding) = finding {
            let (target, mode) = (batch.target(), batch.mode);
            self.findings.push(format!(
                "{} {target} {mode:?} `{command}`\n  expected {}\n  {finding}",
                batch.user,
                shortened(&format!("{expected:?}")),
                finding = shortened(&finding),
            ));
        }
    }

    /// Prints the findings since the last call, and the numbers of right, failed and wrong results.
    pub(crate) fn print_new(&mut self) {
        let mut stderr = std::io::stderr().lock();
        for finding in &self.findings[self.printed..] {
            let _ = writeln!(stderr, "{finding}");
        }
        self.printed = self.findings.len();
        let _ = writeln!(stderr, "so far{:16} {}", "", self.all);
    }

    /// Whether no result is wrong, and at least 99 in a hundred are right.
    pub(crate) fn holds(&self) -> bool {
        let Tally([right, failed, wrong]) = self.all;
        wrong == 0 && right > 0 && failed * 100 <= right + failed
    }
}

/// Returns the beginning and the end of a long text.
fn shortened(text: &str) -> String {
    const MAX_LENGTH: usize = 900;
    let count = text.chars().count();
    if count <= MAX_LENGTH {
        return text.to_owned();
    }
    let begin: String = text.chars().take(MAX_LENGTH / 2).collect();
    let end: String = text.chars().skip(count - MAX_LENGTH / 2).collect();
    format!("{begin} […] {end}")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings
            .iter()
            .take(MAX_REPORTED)
            .try_for_each(|finding| writeln!(f, "{finding}"))?;
        for (name, tallies) in [("habit", &self.habits), ("command", &self.kinds)] {
            writeln!(f, "{name:22} right failed wrong")?;
            tallies
                .iter()
                .try_for_each(|(name, tally)| writeln!(f, "{name:22} {tally}"))?;
        }
        write!(f, "{:22} {}", "all", self.all)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([right, failed, wrong]) = self;
        write!(f, "{right:5} {failed:6} {wrong:5}")
    }
}
