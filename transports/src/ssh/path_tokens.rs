//! Expanding paths of OpenSSH's configuration: `~/`, tokens and variables.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::{Environment, Error, Result};

/// The values of the tokens in paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathTokens<'a> {
    /// The host name as the user gave it.
    pub(crate) requested_host: &'a str,
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) user: &'a str,
    /// The home folder and variables.
    pub(crate) environment: &'a Environment,
}

impl PathTokens<'_> {
    /// Expands the paths of a keyword, and drops those that are `none`.
    ///
    /// # Errors
    /// Fails as [`path`](Self::path) does.
    pub(crate) fn paths(&self, keyword: &'static str, written: &[String]) -> Result<Vec<PathBuf>> {
        let named = written
            .iter()
            .filter(|path| !path.eq_ignore_ascii_case("none"));
        named.map(|path| self.path(keyword, path)).collect()
    }

    /// Expands `~/`, tokens and `${VARIABLE}` in a path.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`] under the keyword's name for an unknown token or variable.
    pub(crate) fn path(&self, keyword: &'static str, text: &str) -> Result<PathBuf> {
        let wrong = |what: String| Error::Setting {
            setting: keyword,
            problem: format!("`{text}` of OpenSSH's configuration has {what}"),
        };
        let home = || self.environment.home().unwrap_or_else(|| Path::new(""));
        let local = || self.environment.text("USER").unwrap_or_default();
        let mut expanded = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['%', '$']) {
            expanded.push_str(&rest[..at]);
            let mark = &rest[at..];
            if let Some(inner) = mark.strip_prefix("${") {
                let (name, behind) = inner
                    .split_once('}')
                    .ok_or_else(|| wrong("a `${` without an end".to_owned()))?;
                let value = self.environment.variable(name).and_then(OsStr::to_str);
                expanded
                    .push_str(value.ok_or_else(|| wrong(format!("`{name}`, which is not set")))?);
                rest = behind;
                continue;
            }
            if let Some(behind) = mark.strip_prefix('$') {
                expanded.push('$');
                rest = behind;
                continue;
            }
            match mark[1..].chars().next() {
                Some('%') => expanded.push('%'),
                Some('d') => expanded.push_str(&home().to_string_lossy()),
                Some('h' | 'k') => expanded.push_str(self.host),
                Some('n') => expanded.push_str(self.requested_host),
                Some('p') => expanded.push_str(&self.port.to_string()),
                Some('r') => expanded.push_str(self.user),
                Some('u') => expanded.push_str(local()),
                other => {
                    let token = other.map_or_else(String::new, String::from);
                    return Err(wrong(format!("`%{token}`, which is not supported")));
                }
            }
            rest = &mark[2..];
        }
        expanded.push_str(rest);
        Ok(match expanded.strip_prefix("~/") {
            Some(rest) => home().join(rest),
            None => PathBuf::from(expanded),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_in_paths_are_expanded() {
        let variables = [("KEYS".into(), "/keys".into())];
        let environment = Environment::new(Some("/home/me".into()), variables);
        let names = PathTokens {
            requested_host: "h1",
            host: "192.0.2.1",
            port: 2222,
            user: "runner",
            environment: &environment,
        };
        let path = |text| {
            names
                .path("IdentityFile", text)
                .map(|path| path.display().to_string())
        };
        assert_eq!(
            path("/k/%n-%h-%p-%r-%%-$").expect("a path"),
            "/k/h1-192.0.2.1-2222-runner-%-$"
        );
        assert_eq!(path("~/.ssh/k").expect("a path"), "/home/me/.ssh/k");
        assert_eq!(path("%d/k").expect("a path"), "/home/me/k");
        assert_eq!(path("${KEYS}/k").expect("a path"), "/keys/k");
        for wrong in ["%Z", "%", "${", "${NO_SUCH_VARIABLE}"] {
            let error = path(wrong).expect_err(wrong).to_string();
            assert!(error.starts_with("IdentityFile: "), "{error}");
        }
    }
}
