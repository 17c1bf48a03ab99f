//! `device.conf`, the file of `puppet device`: the devices and how to reach each of them.
//!
//! ```text
//! [switch1.example.com]
//! type cisco_ios
//! url file:///etc/puppetlabs/puppet/devices/switch1.conf
//! ```

/// One device of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceEntry {
    /// The device's name.
    pub name: String,
    /// The line on which the device's section begins, counted from 1.
    pub line: usize,
    /// The type of the device: a transport or a family.
    pub type_name: String,
    /// The location of the connection info, or the address itself. It may contain a password.
    pub url: String,
    /// Whether the section sets `debug`.
    pub debug: bool,
}

/// Parses a `device.conf`; `file` is its name in messages.
///
/// # Errors
/// Returns every problem of the file, in Puppet's wording where Puppet has one. Of a line, only the first
/// word is quoted, because a URL may contain a password.
pub fn parse(text: &str, file: &str) -> Result<Vec<DeviceEntry>, Vec<String>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut wrong = Vec::new();
    for (line, said) in (1..).zip(text.lines()) {
        let place = format!("{file}:{line}");
        let words = said.trim();
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        if let Some(name) = section_name(said) {
            if let Some(first) = sections.iter().find(|section| section.name == name) {
                wrong.push(format!(
                    "Duplicate device found at {place}, already found at {file}:{}",
                    first.line
                ));
            }
            sections.push(Section::new(name, line));
            continue;
        }
        let (word, value) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let value = value.trim();
        let Some(section) = sections.last_mut() else {
            wrong.push(format!(
                "Invalid entry at {place}: {word} …: it stands before any [device]"
            ));
            continue;
        };
        match word {
            "type" if !value.is_empty() => section.type_name = Some(value),
            "url" if is_url(value) => section.url = Some(value),
            "url" => wrong.push(format!(
                "{place}: the value of `url` is an invalid url; expected file:///PATH, or \
                 ssh://USER:PASSWORD@HOST"
            )),
            "debug" => section.debug = true,
            _ => wrong.push(format!(
                "Invalid entry at {place}: {word} …; expected [NAME], `type NAME`, `url URL` or \
                 `debug`"
            )),
        }
    }
    let mut entries = Vec::new();
    for section in sections {
        let Section { name, line, .. } = section;
        let missing = |what: &str| format!("{file}:{line}: the device {name} has no `{what}`");
        match (section.type_name, section.url) {
            (Some(type_name), Some(url)) => entries.push(DeviceEntry {
                name: name.to_owned(),
                line,
                type_name: type_name.to_owned(),
                url: url.to_owned(),
                debug: section.debug,
            }),
            (None, _) => wrong.push(missing("type")),
            // An invalid URL has already been reported.
            (_, None) if wrong.iter().any(|told| told.contains("an invalid url")) => {}
            (_, None) => wrong.push(missing("url")),
        }
    }
    if wrong.is_empty() {
        Ok(entries)
    } else {
        Err(wrong)
    }
}

struct Section<'t> {
    name: &'t str,
    line: usize,
    type_name: Option<&'t str>,
    url: Option<&'t str>,
    debug: bool,
}

impl<'t> Section<'t> {
    fn new(name: &'t str, line: usize) -> Self {
        Self {
            name,
            line,
            type_name: None,
            url: None,
            debug: false,
        }
    }
}

/// Returns the name of a section. Its header must begin in the first column.
fn section_name(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_prefix('[')?.strip_suffix(']')?;
    let is_name = |c: char| c.is_alphanumeric() || "_.-".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// Whether a text can be a URL: a scheme, `://` and a rest, without white space.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    let well =
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_scheme);
    well && !rest.is_empty() && !text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_sections() {
        let text = "# ours\n\n[sw1.example-2.com]\n  type frr\n\turl  file:///etc/sw1.conf \n debug yes\n\
                    [sw2]  \nurl ssh://admin:canary@192.0.2.1:2022/\ntype cisco\n   # the end";
        let entries = parse(text, "device.conf").expect("it is right");
        let shown: Vec<_> = entries
            .iter()
            .map(|it| {
                (
                    it.name.as_str(),
                    it.line,
                    it.type_name.as_str(),
                    it.url.as_str(),
                    it.debug,
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("sw1.example-2.com", 3, "frr", "file:///etc/sw1.conf", true),
                (
                    "sw2",
                    7,
                    "cisco",
                    "ssh://admin:canary@192.0.2.1:2022/",
                    false
                ),
            ]
        );
        assert_eq!(parse("", "device.conf"), Ok(Vec::new()));
    }

    #[test]
    fn everything_wrong_is_reported_with_its_line_and_without_secrets() {
        for (text, expected) in [
            (
                "[a]\ntype t\nurl file:///x\n[a]\ntype t\nurl file:///y",
                "Duplicate device found at F:4, already found at F:1",
            ),
            (
                "[a]\nurll ssh://u:canary@h\ntype t\nurl file:///x",
                "Invalid entry at F:2: urll …; expected",
            ),
            (
                "[a b]\n",
                "Invalid entry at F:1: [a …: it stands before any [device]",
            ),
            (
                " [a]\n",
                "Invalid entry at F:1: [a] …: it stands before any [device]",
            ),
            (
                "type t\n",
                "Invalid entry at F:1: type …: it stands before any [device]",
            ),
            ("[a]\ntype\n", "Invalid entry at F:2: type …; expected"),
            (
                "[a]\ntype t\nurl canary\n",
                "F:3: the value of `url` is an invalid url",
            ),
            (
                "[a]\ntype t\nurl ssh://u:can ary@h\n",
                "F:3: the value of `url` is an invalid url",
            ),
            ("[a]\ntype t\n", "F:1: the device a has no `url`"),
            ("[a]\nurl file:///x\n", "F:1: the device a has no `type`"),
        ] {
            let told = parse(text, "F").expect_err(text).join("\n");
            assert!(told.contains(expected), "{text}: {told}");
            assert!(!told.contains("canary"), "{text}: {told}");
        }
    }
}
