//! Writing XML: for messages, and for people.

use std::fmt::{self, Write as _};

use super::{Element, Node};

impl Element {
    /// Returns the element as text for people: one line for each element, indented. Mixed content stays
    /// unchanged.
    pub fn to_pretty(&self) -> String {
        let mut text = String::new();
        self.write_pretty(&mut text, 0).expect("a text takes all");
        text
    }

    fn write_pretty(&self, out: &mut String, depth: usize) -> fmt::Result {
        let blank = |node: &Node| matches!(node, Node::Text(text) if text.trim().is_empty());
        let is_text = |node: &Node| matches!(node, Node::Text(_));
        let has_elements = !self.children.iter().all(is_text);
        let is_mixed = self
            .children
            .iter()
            .any(|node| is_text(node) && !blank(node));
        write!(out, "{:1$}", "", 2 * depth)?;
        if !has_elements || is_mixed {
            return writeln!(out, "{self}");
        }
        self.write_start(out)?;
        out.write_str(">\n")?;
        for child in self.children() {
            child.write_pretty(out, depth + 1)?;
        }
        writeln!(out, "{:2$}</{}>", "", self.name, 2 * depth)
    }

    /// Writes the start tag without its last `>`.
    fn write_start(&self, out: &mut impl fmt::Write) -> fmt::Result {
        write!(out, "<{}", self.name)?;
        for (name, value) in &self.attributes {
            write!(out, " {name}=\"")?;
            escape(out, value, true)?;
            out.write_char('"')?;
        }
        Ok(())
    }
}

/// Writes the element as it is sent. Nothing is added, and no text contains `]]>`, which could end a message.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_start(f)?;
        if self.children.is_empty() {
            return f.write_str("/>");
        }
        f.write_char('>')?;
        for node in &self.children {
            match node {
                Node::Element(element) => write!(f, "{element}")?,
                Node::Text(text) => escape(f, text, false)?,
            }
        }
        write!(f, "</{}>", self.name)
    }
}

/// Writes a text so that a parser returns it unchanged. Unescaped, a parser would turn line ends in an
/// attribute into blanks, and carriage returns into line feeds.
fn escape(out: &mut impl fmt::Write, text: &str, in_attribute: bool) -> fmt::Result {
    for character in text.chars() {
        match character {
            '&' => out.write_str("&amp;")?,
            '<' => out.write_str("&lt;")?,
            '>' => out.write_str("&gt;")?,
            '\r' => out.write_str("&#13;")?,
            '"' if in_attribute => out.write_str("&quot;")?,
            '\n' if in_attribute => out.write_str("&#10;")?,
            '\t' if in_attribute => out.write_str("&#9;")?,
            other => out.write_char(other)?,
        }
    }
    Ok(())
}
