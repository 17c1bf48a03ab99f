//! The filters after the `|` of a `show`: include, exclude, begin, section, count.

use fancy_regex::Regex;

use super::interface::common_prefix;

/// Which lines of an output are shown.
#[derive(Debug)]
pub(super) struct Filter {
    kind: FilterKind,
    pattern: Regex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FilterKind {
    Begin,
    Count,
    Exclude,
    Include,
    Section,
}

const KINDS: [(&str, FilterKind); 5] = [
    ("begin", FilterKind::Begin),
    ("count", FilterKind::Count),
    ("exclude", FilterKind::Exclude),
    ("include", FilterKind::Include),
    ("section", FilterKind::Section),
];

/// Why a filter is invalid.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FilterError {
    /// The character at this offset is invalid.
    InvalidAt(usize),
    /// The kind or the expression is missing.
    Incomplete,
    /// The regular expression is invalid.
    Expression,
}

impl Filter {
    /// Parses a filter: a kind, which may be abbreviated, and an expression.
    ///
    /// # Errors
    /// [`FilterError`].
    pub(super) fn parse(text: &str) -> Result<Self, FilterError> {
        let trimmed = text.trim_start();
        let start = text.len() - trimmed.len();
        let (word, expression) = trimmed.split_once(' ').unwrap_or((trimmed, ""));
        if word.is_empty() {
            return Err(FilterError::Incomplete);
        }
        let fits = |name: &str| common_prefix(name, word);
        let kind = KINDS
            .iter()
            .find(|(name, _)| name.starts_with(word))
            .map(|(_, kind)| *kind);
        let longest = KINDS.iter().map(|(name, _)| fits(name)).max().unwrap_or(0);
        let kind = kind.ok_or(FilterError::InvalidAt(start + longest))?;
        if expression.is_empty() {
            return Err(FilterError::Incomplete);
        }
        let pattern = Regex::new(expression).map_err(|_| FilterError::Expression)?;
        Ok(Self { kind, pattern })
    }

    /// The lines of a text that pass.
    pub(super) fn apply(&self, text: &str) -> String {
        let matches = |line: &str| self.pattern.is_match(line).unwrap_or(false);
        let lines = text.lines();
        let kept: Vec<&str> = match self.kind {
            FilterKind::Begin => lines.skip_while(|line| !matches(line)).collect(),
            FilterKind::Exclude => lines.filter(|line| !matches(line)).collect(),
            FilterKind::Include => lines.filter(|line| matches(line)).collect(),
            FilterKind::Section => {
                // A line that matches, and what is indented below it.
                let mut section_indent = None;
                let mut in_section = |line: &&str| {
                    let indent = line.len() - line.trim_start().len();
                    if section_indent.is_some_and(|outer| indent > outer) {
                        return true;
                    }
                    section_indent = matches(line).then_some(indent);
                    section_indent.is_some()
                };
                lines.filter(|line| in_section(line)).collect()
            }
            FilterKind::Count => {
                let count = lines.filter(|line| matches(line)).count();
                return format!("Number of lines which match regexp = {count}\n");
            }
        };
        kept.iter().map(|line| format!("{line}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
interface GigabitEthernet0/1
 description up
 switchport mode trunk
!
interface Vlan1
 no ip address
!
end
";

    fn filtered(filter: &str) -> String {
        Filter::parse(filter).expect("a filter").apply(TEXT)
    }

    #[test]
    fn lines_are_kept_by_kind() {
        assert_eq!(
            filtered(" include ^inter"),
            "interface GigabitEthernet0/1\ninterface Vlan1\n"
        );
        assert_eq!(filtered(" i up|Vlan"), " description up\ninterface Vlan1\n");
        assert_eq!(filtered(" exc ^ |!|int"), "end\n");
        assert_eq!(
            filtered(" b Vlan"),
            "interface Vlan1\n no ip address\n!\nend\n"
        );
        assert_eq!(filtered(" sec Vlan"), "interface Vlan1\n no ip address\n");
        assert_eq!(filtered(" sec switchport"), " switchport mode trunk\n");
        assert_eq!(
            filtered(" count !"),
            "Number of lines which match regexp = 2\n"
        );
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        let refused = |text| Filter::parse(text).expect_err("a refusal");
        assert_eq!(refused(" inklude x"), FilterError::InvalidAt(3));
        assert_eq!(refused(" include"), FilterError::Incomplete);
        assert_eq!(refused(""), FilterError::Incomplete);
        assert_eq!(refused(" i (("), FilterError::Expression);
    }
}
