//! Looking up the addresses of a name with the system's resolver. The time is limited, and the error names the
//! name servers if none answers.

use std::fs;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;
use tokio::time::{Instant, timeout_at};

/// The file with the resolver's name servers (resolv.conf(5)).
const CONFIGURATION: &str = "/etc/resolv.conf";

/// The limit for a lookup. It leaves some of the retry budget, so that a silent name server is reported as such.
const MAX_LOOKUP_TIME: Duration = Duration::from_secs(20);

/// Returns the addresses of a host.
///
/// # Errors
/// Fails when the name does not exist, or when no name server answers, with the system's error and the name
/// servers. The kind is [`io::ErrorKind::TimedOut`] when nothing is known by the deadline.
pub(crate) async fn addresses(
    host: &str,
    port: u16,
    deadline: Instant,
) -> io::Result<Vec<SocketAddr>> {
    let begun = Instant::now();
    let deadline = deadline.min(begun + MAX_LOOKUP_TIME);
    // Without time left, there is no lookup: otherwise an immediate answer would be a matter of chance.
    let looked_up = async {
        match deadline > begun {
            true => lookup_host((host, port)).await,
            false => pending().await,
        }
    };
    let found = match timeout_at(deadline, looked_up).await {
        Ok(Ok(found)) => found.collect(),
        Ok(Err(error)) if is_unanswered(&error) => {
            let message = format!("{error}{}", servers("; asked:"));
            return Err(io::Error::new(error.kind(), message));
        }
        Ok(Err(error)) => return Err(error),
        Err(_) => {
            let waited = begun.elapsed().as_secs_f64();
            let message = format!("no answer within {waited:.1} s{}", servers(" from"));
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
    };
    let found: Vec<SocketAddr> = found;
    if found.is_empty() {
        return Err(io::Error::other("no address"));
    }
    Ok(found)
}

/// Returns whether no name server has answered, not even that the name does not exist. The library reports
/// that only in the C library's words (EAI_AGAIN), which are never translated here.
pub(crate) fn is_unanswered(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut || error.to_string().contains("Temporary failure")
}

/// Returns the configured name servers, after a word.
fn servers(word: &str) -> String {
    let text = fs::read_to_string(CONFIGURATION).unwrap_or_default();
    match name_servers_in(&text).as_slice() {
        [] => String::new(),
        [one] => format!("{word} name server {one} of {CONFIGURATION}"),
        more => format!("{word} name servers {} of {CONFIGURATION}", more.join(", ")),
    }
}

fn name_servers_in(text: &str) -> Vec<&str> {
    let words = text.lines().map(|line| {
        let mut words = line.split_whitespace();
        (words.next(), words.next())
    });
    words
        .filter_map(|words| match words {
            (Some("nameserver"), Some(server)) => Some(server),
            _ => None,
        })
        .collect()
}

/// The same resolver for the HTTP library.
#[derive(Debug)]
pub(crate) struct Resolver {
    /// The limit for a lookup.
    pub(crate) limit: Duration,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let deadline = Instant::now() + self.limit;
        Box::pin(async move {
            let found = addresses(name.as_str(), 0, deadline).await?;
            let found: Addrs = Box::new(found.into_iter());
            Ok(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_servers_are_those_of_the_configuration() {
        let text = "# nameserver 192.0.2.1\nsearch example\nnameserver\t192.0.2.2 # own\n\
                    nameserver 2001:db8::1\nnameserver\n";
        assert_eq!(name_servers_in(text), ["192.0.2.2", "2001:db8::1"]);
    }

    #[tokio::test]
    async fn a_lookup_without_answer_is_an_error_that_shows_the_time() {
        let error = addresses("sw1.example", 22, Instant::now())
            .await
            .expect_err("no time is left");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(is_unanswered(&error), "{error}");
        assert!(error.to_string().starts_with("no answer within 0.0 s"));
    }
}
