//! What became of the commands: figures by habit and by kind, and each that is not right.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write as _;

use crate::device::answer::Expected;
use crate::plan::Batch;

/// One command and what became of it.
pub(crate) struct Judged {
    pub(crate) batch: Batch,
    pub(crate) command: String,
    pub(crate) expected: Expected,
    pub(crate) verdict: Verdict,
}

pub(crate) enum Verdict {
    /// To the byte.
    Right,
    /// A true error, where an output could have been read.
    Failed(String),
    /// Something else than the output, and no error; or a key pressed that nobody asked for.
    Wrong(String),
}

/// How many were right, failed and wrong.
#[derive(Clone, Copy, Default)]
struct Tally([usize; 3]);

#[derive(Default)]
pub(crate) struct Report {
    all: Tally,
    habits: BTreeMap<String, Tally>,
    kinds: BTreeMap<String, Tally>,
    findings: Vec<String>,
    /// How many of them were told already.
    told: usize,
}

/// How many findings are told at most.
const MOST_TOLD: usize = 400;

impl Report {
    pub(crate) fn add(&mut self, judged: Judged) {
        let Judged {
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
            let (target, way) = (batch.target(), batch.way);
            self.findings.push(format!(
                "{} {target} {way:?} `{command}`\n  expected {}\n  {finding}",
                batch.user,
                shortened(&format!("{expected:?}")),
                finding = shortened(&finding),
            ));
        }
    }

    /// Tells what was found since it told last, and how many are right, failed and wrong.
    pub(crate) fn tell(&mut self) {
        let mut stderr = std::io::stderr().lock();
        for finding in &self.findings[self.told..] {
            let _ = writeln!(stderr, "{finding}");
        }
        self.told = self.findings.len();
        let _ = writeln!(stderr, "so far{:16} {}", "", self.all);
    }

    /// None wrong, and at least 99 of a hundred right.
    pub(crate) fn holds(&self) -> bool {
        let Tally([right, failed, wrong]) = self.all;
        wrong == 0 && right > 0 && failed * 100 <= right + failed
    }
}

/// The two ends of a long text.
fn shortened(text: &str) -> String {
    const MOST: usize = 900;
    let count = text.chars().count();
    if count <= MOST {
        return text.to_owned();
    }
    let begin: String = text.chars().take(MOST / 2).collect();
    let end: String = text.chars().skip(count - MOST / 2).collect();
    format!("{begin} […] {end}")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings
            .iter()
            .take(MOST_TOLD)
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
