//! Finds the capturing groups of an expression before it is rewritten.

/// The capturing groups of an expression. They must be known before rewriting, because references may be
/// forward.
#[derive(Debug)]
pub(super) struct Groups {
    /// The number of capturing groups.
    pub(super) count: usize,
    pub(super) names: Vec<(String, Vec<usize>)>,
}

impl Groups {
    /// Returns the numbers of the groups of this name.
    pub(super) fn named(&self, name: &str) -> Option<&[usize]> {
        self.names
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, numbers)| numbers.as_slice())
    }

    /// Whether only named groups capture.
    pub(super) fn only_named(&self) -> bool {
        !self.names.is_empty()
    }
}

/// Finds all capturing groups.
pub(super) fn survey(source: &str) -> Groups {
    let mut plain = 0;
    let mut names: Vec<(String, Vec<usize>)> = Vec::new();
    let mut named = 0;
    let mut in_class = 0_usize;
    let mut chars = source.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => in_class += 1,
            ']' => in_class = in_class.saturating_sub(1),
            '(' if in_class == 0 => {
                let rest = &source[at + 1..];
                match name_of(rest) {
                    Some(name) => {
                        named += 1;
                        match names.iter_mut().find(|(known, _)| known == name) {
                            Some((_, numbers)) => numbers.push(named),
                            None => names.push((name.to_owned(), vec![named])),
                        }
                    }
                    None if !rest.starts_with('?') => plain += 1,
                    None => {}
                }
            }
            _ => {}
        }
    }
    Groups {
        count: if named > 0 { named } else { plain },
        names,
    }
}

/// Returns the name of a named group from the text after its parenthesis.
fn name_of(rest: &str) -> Option<&str> {
    let (open, close) = if rest.starts_with("?<") {
        ("?<", '>')
    } else if rest.starts_with("?'") {
        ("?'", '\'')
    } else {
        return None;
    };
    let inner = &rest[open.len()..];
    if open == "?<" && inner.starts_with(['=', '!']) {
        return None;
    }
    inner.split_once(close).map(|(name, _)| name)
}
