//! The error for a target that no proxy leads to.

use std::fmt;

/// None of the proxies between this node and the target can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoProxy {
    message: String,
    /// What is wrong with each proxy, as far as that is known.
    pub proxies: Vec<ProxyProblem>,
}

/// Why a proxy cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyProblem {
    /// The name of the proxy.
    pub name: String,
    /// What is wrong.
    pub message: String,
}

impl NoProxy {
    /// Creates the error for something that is wrong with all proxies.
    pub fn of_all(message: String) -> Self {
        let proxies = Vec::new();
        Self { message, proxies }
    }

    /// Creates the error that lists what is wrong with each proxy.
    pub fn of_each(proxies: Vec<ProxyProblem>) -> Self {
        let each = proxies
            .iter()
            .map(|proxy| format!("{}: {}", proxy.name, proxy.message));
        let message = each.collect::<Vec<_>>().join("; ");
        Self { message, proxies }
    }
}

impl ProxyProblem {
    /// Creates the problem of one proxy.
    pub fn new(name: &str, why: impl fmt::Display) -> Self {
        Self {
            name: name.to_owned(),
            message: why.to_string(),
        }
    }
}

impl fmt::Display for NoProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no proxy: {}", self.message)
    }
}

impl std::error::Error for NoProxy {}
