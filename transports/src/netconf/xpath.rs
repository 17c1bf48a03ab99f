//! XPaths (1.0) with a prefix at each name. A name without a prefix is in no namespace, and a strict server
//! finds nothing there.
//!
//! A child without a prefix gets that of its parent, as in a RESTCONF path (RFC 7951, 4). Any other name
//! without a prefix is refused, because the empty answer would be misleading.

mod token;

use token::{Token, tokens};

/// An XPath with a prefix at each of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prefixed {
    /// The XPath.
    pub(super) select: String,
    /// Its prefixes, each once.
    pub(super) prefixes: Vec<String>,
}

/// The maximum depth of nested parentheses and predicates.
const MAX_DEPTH: usize = 64;

impl Prefixed {
    /// Parses an XPath and adds the missing prefixes.
    ///
    /// # Errors
    /// Fails when the text is not an XPath, or when a name needs a prefix.
    pub(super) fn read(path: &str) -> Result<Self, String> {
        let mut reader = Reader {
            tokens: tokens(path)?,
            at: 0,
            depth: 0,
            missing: Vec::new(),
            prefixes: Vec::new(),
        };
        reader.expression(&Place::default())?;
        if let Some((_, token)) = reader.tokens.get(reader.at) {
            return Err(format!("`{}` is not expected there", token.shown()));
        }
        let mut select = path.to_owned();
        for (at, prefix) in reader.missing.into_iter().rev() {
            select.insert_str(at, &format!("{prefix}:"));
        }
        Ok(Self {
            select,
            prefixes: reader.prefixes,
        })
    }
}

/// The position of a step in a document: the prefixes of its ancestors and itself, as far as they are known.
/// The root has none.
#[derive(Clone, Default)]
struct Place(Vec<Option<String>>);

impl Place {
    /// Returns the prefix of the current element.
    fn prefix(&self) -> Option<&str> {
        self.0.last()?.as_deref()
    }

    fn child(mut self, prefix: Option<String>) -> Self {
        self.0.push(prefix);
        self
    }

    fn parent(mut self) -> Self {
        self.0.pop();
        self
    }
}

/// The parser. It records missing and existing prefixes.
struct Reader<'p> {
    /// The tokens, each with its offset.
    tokens: Vec<(usize, Token<'p>)>,
    at: usize,
    depth: usize,
    /// The offsets of names without a prefix, in order, with the prefixes to insert.
    missing: Vec<(usize, String)>,
    prefixes: Vec<String>,
}

impl<'p> Reader<'p> {
    fn next_is(&self, token: &Token<'_>) -> bool {
        self.tokens
            .get(self.at)
            .is_some_and(|(_, next)| next == token)
    }

    fn take_if(&mut self, token: &Token<'_>) -> bool {
        let is_it = self.next_is(token);
        self.at += usize::from(is_it);
        is_it
    }

    fn take(&mut self) -> Result<(usize, Token<'p>), String> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token.ok_or_else(|| "it ends too early".to_owned())
    }

    fn expect(&mut self, token: &Token<'_>) -> Result<(), String> {
        match self.take()? {
            (_, found) if found == *token => Ok(()),
            (_, found) => Err(format!(
                "expected `{}`, found `{}`",
                token.shown(),
                found.shown()
            )),
        }
    }

    /// Parses paths with operators between them (XPath 1.0, 3.3 to 3.5). Precedence does not matter here.
    fn expression(&mut self, place: &Place) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!(
                "more than {MAX_DEPTH} parentheses are inside each other"
            ));
        }
        loop {
            while self.take_if(&Token::Operator("-")) {}
            self.path(place)?;
            match self.tokens.get(self.at) {
                Some((_, Token::Operator(_))) => self.at += 1,
                _ => break,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn path(&mut self, place: &Place) -> Result<(), String> {
        match self.tokens.get(self.at).map(|(_, token)| token.clone()) {
            Some(Token::Slash) => {
                self.at += 1;
                if self.begins_step() {
                    self.steps(Place::default())?;
                }
                return Ok(());
            }
            Some(Token::Slashes) => {
                self.at += 1;
                return self.steps(Place::default());
            }
            Some(Token::Literal | Token::Number | Token::Variable) => self.at += 1,
            Some(Token::Open) => {
                self.at += 1;
                self.expression(place)?;
                self.expect(&Token::Close)?;
            }
            Some(Token::Function) => {
                self.at += 1;
                self.expect(&Token::Open)?;
                if !self.take_if(&Token::Close) {
                    self.expression(place)?;
                    while self.take_if(&Token::Comma) {
                        self.expression(place)?;
                    }
                    self.expect(&Token::Close)?;
                }
            }
            _ => return self.steps(place.clone()),
        }
        // The position of nodes that are not found by a path is unknown.
        self.predicates(&Place::default())?;
        if self.take_if(&Token::Slash) || self.take_if(&Token::Slashes) {
            self.steps(Place::default())?;
        }
        Ok(())
    }

    fn begins_step(&self) -> bool {
        use Token::{At, Axis, Dot, Dots, Every, Name, NodeType};
        let next = self.tokens.get(self.at).map(|(_, token)| token);
        matches!(
            next,
            Some(At | Axis(_) | Dot | Dots | Every(_) | Name(..) | NodeType)
        )
    }

    /// Parses steps with slashes between them.
    fn steps(&mut self, mut place: Place) -> Result<(), String> {
        loop {
            place = self.step(place)?;
            if self.take_if(&Token::Slashes) {
                place = Place::default();
            } else if !self.take_if(&Token::Slash) {
                return Ok(());
            }
        }
    }

    /// Parses one step (XPath 1.0, 2.1). Returns the position it leads to.
    fn step(&mut self, place: Place) -> Result<Place, String> {
        let mut axis = "child";
        let place = match self.take()? {
            (_, Token::Dot) => return Ok(place),
            (_, Token::Dots) => return Ok(place.parent()),
            (_, Token::At) => {
                axis = "attribute";
                let test = self.take()?;
                self.test(place, axis, test)?
            }
            (_, Token::Axis(name)) => {
                axis = name;
                let test = self.take()?;
                self.test(place, axis, test)?
            }
            test => self.test(place, axis, test)?,
        };
        self.predicates(&place)?;
        Ok(place)
    }

    /// Parses the node test of a step. Returns the position of the nodes it finds.
    fn test(
        &mut self,
        place: Place,
        axis: &str,
        (at, test): (usize, Token<'p>),
    ) -> Result<Place, String> {
        let prefix = match test {
            Token::Every(prefix) => prefix.map(str::to_owned),
            Token::NodeType => {
                self.expect(&Token::Open)?;
                self.take_if(&Token::Literal);
                self.expect(&Token::Close)?;
                // `self::node()` is the current node.
                (axis == "self")
                    .then(|| place.prefix().map(str::to_owned))
                    .flatten()
            }
            Token::Name(Some(prefix), _) => Some(prefix.to_owned()),
            // An attribute without a prefix is in no namespace.
            Token::Name(None, _) if ["attribute", "namespace"].contains(&axis) => None,
            Token::Name(None, name) => {
                let known = match axis {
                    "child" | "self" => place.prefix(),
                    _ => None,
                };
                let Some(known) = known.map(str::to_owned) else {
                    return Err(format!(
                        "`{name}` needs a prefix: nothing before it says which namespace it is in"
                    ));
                };
                self.missing.push((at, known.clone()));
                Some(known)
            }
            other => return Err(format!("expected a name, found `{}`", other.shown())),
        };
        if let Some(prefix) = &prefix
            && !self.prefixes.contains(prefix)
        {
            self.prefixes.push(prefix.clone());
        }
        Ok(match axis {
            "child" => place.child(prefix),
            "self" => place.parent().child(prefix),
            "parent" => match prefix {
                None => place.parent(),
                Some(_) => place.parent().parent().child(prefix),
            },
            _ => Place::default().child(prefix),
        })
    }

    fn predicates(&mut self, place: &Place) -> Result<(), String> {
        while self.take_if(&Token::OpenBracket) {
            self.expression(place)?;
            self.expect(&Token::CloseBracket)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(path: &str) -> String {
        let read = Prefixed::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let again = Prefixed::read(&read.select).expect("what was made is an XPath");
        assert_eq!(again, read, "nothing is missing in what was made");
        read.select
    }

    #[test]
    fn every_step_is_in_the_namespace_of_the_one_before_unless_it_says_another() {
        for (path, expected) in [
            ("/a:x", "/a:x"),
            ("/a:x/y/z", "/a:x/a:y/a:z"),
            ("/a:x/y/b:z/w", "/a:x/a:y/b:z/b:w"),
            (
                "/ietf-interfaces:interfaces/interface[name=\"eth0\"]",
                "/ietf-interfaces:interfaces/ietf-interfaces:interface[ietf-interfaces:name=\"eth0\"]",
            ),
            ("/a:x[b:y/z='q/r']/w", "/a:x[b:y/b:z='q/r']/a:w"),
            (
                "/a:x[y and not(z) or w > 2]",
                "/a:x[a:y and not(a:z) or a:w > 2]",
            ),
            ("/a:x[and and or]/div", "/a:x[a:and and a:or]/a:div"),
            ("/a:x[y * 2 = z mod 3]", "/a:x[a:y * 2 = a:z mod 3]"),
            ("/a:x[-y - 1 < 0]", "/a:x[-a:y - 1 < 0]"),
            ("/a:x/y-z.w_1", "/a:x/a:y-z.w_1"),
            ("/a:x/child::y", "/a:x/child::a:y"),
            ("/a:x/self::x[y]", "/a:x/self::a:x[a:y]"),
            ("/a:x/./y", "/a:x/./a:y"),
            ("/a:x/b:y/../z", "/a:x/b:y/../a:z"),
            ("/a:x/b:y[../z = 1]", "/a:x/b:y[../a:z = 1]"),
            (
                "/a:x[contains(y, 'b:c')]/text()",
                "/a:x[contains(a:y, 'b:c')]/text()",
            ),
            ("/a:x[last()]/y[1][z]", "/a:x[last()]/a:y[1][a:z]"),
            ("/a:x/*", "/a:x/*"),
            ("/a:*/a:y", "/a:*/a:y"),
            (
                "/a:x[@operation]/y[@b:c = 'd']",
                "/a:x[@operation]/a:y[@b:c = 'd']",
            ),
            ("/a:x/y | /b:x/y", "/a:x/a:y | /b:x/b:y"),
            ("(/a:x/y)[b:z]", "(/a:x/a:y)[b:z]"),
            ("//a:x/y", "//a:x/a:y"),
            ("/a:x//b:y/z", "/a:x//b:y/b:z"),
            ("count(/a:x/y) > 1", "count(/a:x/a:y) > 1"),
            ("/a:x[y = $z]", "/a:x[a:y = $z]"),
            ("/ a:x / y [ z ]", "/ a:x / a:y [ a:z ]"),
            ("/a:größe/länge", "/a:größe/a:länge"),
            ("/", "/"),
        ] {
            assert_eq!(select(path), expected, "{path}");
        }
    }

    #[test]
    fn a_name_whose_namespace_nobody_knows_is_refused() {
        for (path, name) in [
            ("/interfaces", "interfaces"),
            ("/a:x//y", "y"),
            ("//x", "x"),
            ("/a:x/*/y", "y"),
            ("/a:x/node()/y", "y"),
            ("/a:x[/y = 1]", "y"),
            ("/a:x/ancestor::y", "y"),
            ("/a:x/parent::y", "y"),
            ("/a:x/following-sibling::y", "y"),
            ("(/a:x)/y", "y"),
            ("/a:x[current()/y]", "y"),
            ("/a:x/../../y", "y"),
            ("/a:x | y", "y"),
        ] {
            let error = Prefixed::read(path).expect_err(path);
            assert!(
                error.starts_with(&format!("`{name}` needs a prefix")),
                "{path}: {error}"
            );
        }
    }

    #[test]
    fn what_is_no_xpath_is_refused() {
        let deep = format!("/a:x{}", "[(".repeat(10_000));
        for path in [
            "/a:x/", "/a:x[", "/a:x]", "/a:x['y]", "/a:", "/a:x y", "", "/a:x[f(]", "a::x",
            "/a:x/#", &deep,
        ] {
            Prefixed::read(path).expect_err(path);
        }
    }
}
