//! The addresses of a name, as the system's resolver finds them: within a limit, and with the name
//! servers named where none answers.

use std::fs;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;
use tokio::time::{Instant, timeout_at};

/// Where the system's resolver finds its name servers (resolv.conf(5)).
const CONFIGURATION: &str = "/etc/resolv.conf";

/// How long a name may take, so that silence is known for what it is while patience lasts.
const LONGEST: Duration = Duration::from_secs(20);

/// The addresses of a host.
///
/// # Errors
/// There is no such name, or no name server answers: what the system says, and which servers it asks.
/// [`io::ErrorKind::TimedOut`] where nothing is known by the deadline.
pub(crate) async fn addresses(
    host: &str,
    port: u16,
    deadline: Instant,
) -> io::Result<Vec<SocketAddr>> {
    let begun = Instant::now();
    let deadline = deadline.min(begun + LONGEST);
    // Nothing is looked up where no time is left: an answer that is there at once would be a matter of chance.
    let looked_up = async {
        match deadline > begun {
            true => lookup_host((host, port)).await,
            false => pending().await,
        }
    };
    let found = match timeout_at(deadline, looked_up).await {
        Ok(Ok(found)) => found.collect(),
        Ok(Err(error)) if is_unanswered(&error) => {
            let said = format!("{error}{}", servers("; asked:"));
            return Err(io::Error::new(error.kind(), said));
        }
        Ok(Err(error)) => return Err(error),
        Err(_) => {
            let waited = begun.elapsed().as_secs_f64();
            let said = format!("no answer within {waited:.1} s{}", servers(" from"));
            return Err(io::Error::new(io::ErrorKind::TimedOut, said));
        }
    };
    let found: Vec<SocketAddr> = found;
    if found.is_empty() {
        return Err(io::Error::other("no address"));
    }
    Ok(found)
}

/// Whether no name server has answered, not even that there is no such name. The library tells it by
/// the C library's words only (EAI_AGAIN), which are never translated here.
pub(crate) fn is_unanswered(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut || error.to_string().contains("Temporary failure")
}

/// The name servers that are asked, behind a word.
fn servers(word: &str) -> String {
    let text = fs::read_to_string(CONFIGURATION).unwrap_or_default();
    match listed(&text).as_slice() {
        [] => String::new(),
        [one] => format!("{word} name server {one} of {CONFIGURATION}"),
        more => format!("{word} name servers {} of {CONFIGURATION}", more.join(", ")),
    }
}

fn listed(text: &str) -> Vec<&str> {
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

/// The same, for the HTTP library.
#[derive(Debug)]
pub(crate) struct Resolver {
    /// How long a name may take.
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
        assert_eq!(listed(text), ["192.0.2.2", "2001:db8::1"]);
    }

    #[tokio::test]
    async fn a_name_that_is_not_answered_in_time_is_told_with_how_long_that_was() {
        let error = addresses("sw1.example", 22, Instant::now())
            .await
            .expect_err("no time is left");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(is_unanswered(&error), "{error}");
        assert!(error.to_string().starts_with("no answer within 0.0 s"));
    }
}
