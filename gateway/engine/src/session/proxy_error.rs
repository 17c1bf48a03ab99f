//! Which proxy a session went through, in the error of the session.

use devgate_core::failure::Failure;
use devgate_transports::ProxyLink;
use serde_json::json;

/// Names the proxy in the failure of a session, and says whether the failure is the proxy's. A device behind a proxy that
/// is down looks as if it had closed the connection itself.
pub(super) async fn with_proxy(failure: Failure, link: Option<&ProxyLink>) -> Failure {
    let Some(link) = link else {
        return failure;
    };
    let proxy = link.proxy.as_str();
    let failure = link.setbacks.iter().fold(failure, |failure, setback| {
        let why = json!({ "kind": failure.kind, "msg": setback.message });
        failure.with_failed_proxy(&setback.name, why)
    });
    // Only a lost connection raises the question of who has lost it.
    let problem = match failure.is_down() {
        true => link.problem().await,
        false => None,
    };
    match problem {
        Some(problem) => {
            let msg = format!("{proxy}: {problem}: {failure}");
            let why = json!({ "kind": failure.kind, "msg": problem });
            Failure { msg, ..failure }.with_failed_proxy(proxy, why)
        }
        None => {
            let msg = match names(&failure.msg, proxy) {
                true => failure.msg,
                false => format!("through proxy {proxy}: {}", failure.msg),
            };
            Failure { msg, ..failure }.with_proxy(proxy)
        }
    }
}

/// Whether a text has this name as a word.
fn names(text: &str, name: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || "-_.".contains(character);
    text.match_indices(name).any(|(at, found)| {
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use devgate_transports::SshHost;

    use super::*;

    #[tokio::test]
    async fn an_error_names_the_proxy_that_the_session_went_through() {
        let link = ProxyLink {
            proxy: "h1".to_owned(),
            connection: Weak::<SshHost>::new(),
            setbacks: Vec::new(),
        };
        let refused = || Failure::new("puppetlabs.tasks/connect-error", "r1:22 refuses the login");
        let failure = with_proxy(refused(), Some(&link)).await;
        assert_eq!(failure.msg, "through proxy h1: r1:22 refuses the login");
        assert_eq!(failure.proxy(), Some("h1"));
        let known = Failure {
            msg: "h1: no".to_owned(),
            ..refused()
        };
        assert_eq!(with_proxy(known, Some(&link)).await.msg, "h1: no");
        assert_eq!(with_proxy(refused(), None).await, refused());
        let lost = refused().with("down", true);
        let failure = with_proxy(lost, Some(&link)).await;
        assert!(
            failure
                .msg
                .starts_with("h1: the connection to this proxy was lost: r1"),
            "{failure}"
        );
        assert!(failure.failed_proxy("h1").is_some() && failure.proxy().is_none());
    }

    #[test]
    fn a_name_is_found_as_a_word_alone() {
        assert!(names("through h1 (h1:22)", "h1"));
        assert!(!names("h11:22, xh1, h1.example.com", "h1"));
    }
}
