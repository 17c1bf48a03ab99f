//! The configuration, and what typed lines do to it.

use super::rules::Rules;

/// A line of the configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entry {
    pub(super) line: String,
    pub(super) below: Vec<Self>,
    /// The lines of its text, if it opens one.
    text: Vec<String>,
    /// What it sets, if there is one of it.
    setting: Option<String>,
}

/// The configuration.
#[derive(Clone)]
pub(super) struct Lines {
    rules: &'static Rules,
    pub(super) top: Vec<Entry>,
}

impl PartialEq for Lines {
    fn eq(&self, other: &Self) -> bool {
        self.top == other.top
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.running_config().lines())
            .finish()
    }
}

impl Lines {
    /// The configuration of a device that nobody has configured.
    pub(super) fn new(rules: &'static Rules) -> Self {
        let mut lines = Self {
            rules,
            top: Vec::new(),
        };
        lines
            .apply(&rules.begins)
            .expect("the device takes its own lines");
        lines
    }

    /// Takes lines as they are typed: the indentation tells the mode.
    ///
    /// # Errors
    /// Fails at the first line that is refused.
    pub(super) fn apply(&mut self, lines: &[String]) -> Result<(), String> {
        let mut modes: Vec<String> = Vec::new();
        let mut lines = lines.iter();
        while let Some(typed) = lines.next() {
            let line = typed.trim();
            let depth = typed.len() - typed.trim_start().len();
            if line.is_empty() || line.starts_with('!') {
                continue;
            }
            if depth > modes.len() {
                return Err(format!("`{line}` is not below the line of a mode"));
            }
            modes.truncate(depth);
            let scope = self.scope(&modes);
            let mut entry = Entry {
                line: self.shown(&scope, line),
                ..Entry::default()
            };
            if let Some(end) = self.rules.text_end(line) {
                read_text(&mut entry, &end, &mut lines)?;
            }
            let line = entry.line.clone();
            self.typed(&modes, &scope, entry)?;
            if self.rules.is_mode(&format!("{scope}{line}")) {
                modes.push(line);
            }
        }
        Ok(())
    }

    /// The line in the form in which it is shown.
    fn shown(&self, scope: &str, line: &str) -> String {
        match line.strip_prefix("no ") {
            Some(line) => format!("no {}", self.shown(scope, line)),
            None => self.rules.shown(&format!("{scope}{line}"))[scope.len()..].to_owned(),
        }
    }

    /// The first word of the line that opened the mode, for rules.
    fn scope(&self, modes: &[String]) -> String {
        let opened = modes.last().and_then(|line| line.split(' ').next());
        opened.map_or_else(String::new, |word| format!("{word}: "))
    }

    fn typed(&mut self, modes: &[String], scope: &str, entry: Entry) -> Result<(), String> {
        let rules = self.rules;
        let scoped = |line: &str| format!("{scope}{line}");
        if rules.is_refused(&scoped(&entry.line)) {
            return Err(format!("the device refuses `{}`", entry.line));
        }
        let siblings = self.below(modes);
        let bare = entry.line.strip_prefix("no ");
        let is_there = siblings.iter().any(|other| match bare {
            Some(bare) => other.line.starts_with(bare),
            None => other.line == entry.line,
        });
        if is_there == bare.is_some() {
            let bare = scoped(bare.unwrap_or(&entry.line));
            siblings.retain(|other| !rules.clears(&bare, &scoped(&other.line)));
        }
        if let Some(line) = entry.line.strip_prefix("no ") {
            if rules.is_on(&scoped(line)) || rules.is_either(&scoped(line)) {
                siblings.retain(|other| other.line != line && other.line != entry.line);
                siblings.push(entry);
                return Ok(());
            }
            if let Some((begin, word)) = rules.part(&scoped(line)) {
                let is_whole =
                    |other: &&mut Entry| scoped(&other.line).starts_with(&format!("{begin} "));
                for other in siblings.iter_mut().filter(is_whole) {
                    if let Some((before, behind)) = other.line.split_once(&format!(" {word} ")) {
                        let rest = behind
                            .split_once(' ')
                            .map_or(String::new(), |(_, rest)| format!(" {rest}"));
                        other.line = format!("{before}{rest}");
                    }
                }
                return Ok(());
            }
            let setting = rules.setting(&scoped(line));
            let is_taken = |other: &Entry| {
                let begins = other.line.strip_prefix(line);
                begins.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
                    || setting.is_some() && other.setting == setting
            };
            for other in siblings.iter_mut().filter(|other| is_taken(other)) {
                if rules.is_fixed(&scoped(&other.line)) {
                    other.below.clear();
                }
            }
            siblings.retain(|other| !is_taken(other) || rules.is_fixed(&scoped(&other.line)));
            return Ok(());
        }
        let line = entry.line.clone();
        let setting = rules.setting(&scoped(&line));
        let is_contrary = |other: &Entry| {
            let off = other.line.strip_prefix("no ");
            off.is_some_and(|off| off == line || setting.as_deref() == Some(&scoped(off)))
        };
        siblings.retain(|other| !is_contrary(other));
        if rules.is_on(&scoped(&line)) {
            return Ok(());
        }
        let is_same =
            |other: &Entry| other.line == line || setting.is_some() && setting == other.setting;
        let entry = Entry {
            setting: setting.clone(),
            ..entry
        };
        let same = siblings.iter().position(is_same);
        match same {
            _ if rules.is_hidden(&scoped(&line)) => siblings.retain(|other| !is_same(other)),
            Some(same) if siblings[same].line == line => siblings[same].text = entry.text,
            Some(same) => siblings[same] = entry,
            None => siblings.push(entry),
        }
        if rules.place(&scoped(&line)) < usize::MAX {
            siblings.sort_by_key(|other| (rules.place(&scoped(&other.line)), number(other)));
        }
        let is_numbered = modes.last().is_some_and(|mode| rules.is_numbered(mode));
        if is_numbered || rules.is_numbered(&scoped(&line)) {
            self.below(modes).sort_by_key(number);
        }
        Ok(())
    }

    /// The lines of a mode.
    fn below(&mut self, modes: &[String]) -> &mut Vec<Entry> {
        let mut entries = &mut self.top;
        for mode in modes {
            let at = entries.iter().position(|entry| entry.line == *mode);
            entries = &mut entries[at.expect("the mode was entered")].below;
        }
        entries
    }

    /// The lines below those that begin with these words.
    pub(super) fn sections<'l>(
        &'l self,
        words: &'l str,
    ) -> impl Iterator<Item = (&'l str, &'l [Entry])> {
        self.top.iter().filter_map(move |entry| {
            let name = entry.line.strip_prefix(words)?;
            Some((name, entry.below.as_slice()))
        })
    }

    /// The output of `show running-config`.
    pub(super) fn running_config(&self) -> String {
        let mut text = String::from("Building configuration...\n\nversion 15.2\n!\n");
        let mut was_section = false;
        for entry in self
            .top
            .iter()
            .filter(|entry| !self.rules.is_unshown(&entry.line))
        {
            let is_section = !entry.below.is_empty() || self.rules.is_mode(&entry.line);
            if is_section || was_section {
                text.push_str("!\n");
            }
            was_section = is_section;
            self.write(entry, 0, &mut text);
        }
        text.push_str("!\nend\n");
        text
    }

    fn write(&self, entry: &Entry, depth: usize, text: &mut String) {
        text.push_str(&" ".repeat(depth * self.rules.indent));
        text.push_str(&entry.line);
        text.push('\n');
        for line in &entry.text {
            text.push_str(line);
            text.push('\n');
        }
        for below in &entry.below {
            self.write(below, depth + 1, text);
        }
    }
}

/// The first number among the words of a line, or the one that a range begins with.
fn number(entry: &Entry) -> u64 {
    let words = entry.line.split([' ', '-']);
    words
        .filter_map(|word| word.parse().ok())
        .next()
        .unwrap_or(0)
}

/// Reads the text that a line opens. Where the line itself says what ends it, that is shown as `^C`.
fn read_text<'l>(
    entry: &mut Entry,
    end: &str,
    lines: &mut impl Iterator<Item = &'l String>,
) -> Result<(), String> {
    let line = entry.line.clone();
    let Some((opened, first)) = line.split_once(&format!(" {end}")) else {
        loop {
            let line = lines.next().ok_or("the text has no end")?;
            entry.text.push(line.clone());
            if line == end {
                return Ok(());
            }
        }
    };
    let mut text = vec![first.to_owned()];
    while !text.last().is_some_and(|line| line.contains(end)) {
        text.push(lines.next().ok_or("the text has no end")?.clone());
    }
    let last = text.pop().unwrap_or_default();
    let (last, rest) = last.split_once(end).unwrap_or((&last, ""));
    if !rest.trim().is_empty() {
        return Err(format!("`{rest}` stands behind the end of a text"));
    }
    text.push(format!("{last}^C"));
    entry.line = format!("{opened} ^C{}", text.remove(0));
    entry.text = text;
    Ok(())
}

impl Entry {
    /// The words behind these ones, in a line below a section.
    pub(super) fn behind(&self, words: &str) -> Option<&str> {
        self.line.strip_prefix(words)
    }
}
