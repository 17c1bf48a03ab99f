//! Answers in pages.

use devgate_schemas::{Value, values};
use serde_json::Value as Json;
use tokio::time::{Instant, timeout_at};

use super::RestSession;
use crate::error::{Interrupted, Interruption, PartialOutput, Phase, quoted_message};
use crate::http::{HttpRequest, HttpResponse, MAX_BODY_SIZE};
use crate::{Context, Document, Error, Result};

/// The maximum number of pages in an answer.
const MAX_PAGES: usize = 1000;

/// That limit, as messages name it.
const PAGES: &str = "1000 pages";

impl RestSession {
    /// Returns the items of an answer and of its following pages, or the answer as it is. The limits of time
    /// and size for one answer apply to all pages together.
    pub(super) async fn all_pages(
        &self,
        ctx: &Context<'_>,
        http_request: HttpRequest,
    ) -> Result<Document> {
        let limit = self.http.command_timeout();
        let end = Instant::now() + limit;
        let first = self.send(ctx, &http_request).await?;
        let Some((mut items, mut next)) = self.page(&first) else {
            return Ok(first.document());
        };
        let (mut bytes, mut count) = (first.body.len(), values(&first.body));
        drop(first);
        let mut pages = 1;
        while let Some(address) = next {
            let next_request = self.http.request_at(&http_request, &address)?;
            pages += 1;
            let operation = format!("`{}`, on page {pages}", http_request.shown());
            let interrupted = |operation: String, why| {
                Error::Interrupted(Box::new(Interrupted {
                    peer: self.http.peer().to_owned(),
                    operation,
                    changing: false,
                    why,
                    partial: PartialOutput::default(),
                }))
            };
            if pages > MAX_PAGES {
                let operation = format!("`{}`", http_request.shown());
                return Err(interrupted(operation, Interruption::TooMuchOf(PAGES)));
            }
            // A server may name a next page forever, so one limit applies to all pages.
            let next_page = timeout_at(end, self.send(ctx, &next_request)).await;
            let answer = next_page
                .map_err(|_| interrupted(operation.clone(), Interruption::TooLong(limit)))??;
            bytes += answer.body.len();
            count += values(&answer.body);
            if bytes > MAX_BODY_SIZE {
                return Err(interrupted(operation, Interruption::TooMuch(MAX_BODY_SIZE)));
            }
            let most = self.http.answer_limit();
            if count > most {
                return Err(interrupted(operation, Interruption::TooManyValues(most)));
            }
            let (more, after) = self
                .page(&answer)
                .ok_or_else(|| self.no_page(&operation, &answer))?;
            items.extend(more);
            next = after;
        }
        ctx.debug(format!("{} items came in {pages} pages", items.len()));
        Ok(Document::Data(Value::from(Json::Array(items))))
    }

    /// Returns an answer's items, and the address of the next page. Returns `None` if it is not a page.
    fn page(&self, answer: &HttpResponse) -> Option<(Vec<Json>, Option<String>)> {
        let json = answer.json()?;
        if let Some(paging) = &self.settings.paging {
            let items = json.pointer(&paging.items)?.as_array()?.clone();
            let next = json.pointer(&paging.next).and_then(Json::as_str);
            return Some((
                items,
                next.filter(|next| !next.is_empty()).map(str::to_owned),
            ));
        }
        let Json::Array(items) = json else {
            return None;
        };
        Some((items, answer.header("link").and_then(next_link)))
    }

    /// Returns the error for a page that is not a list: the items so far must not be taken for the whole list.
    fn no_page(&self, operation: &str, answer: &HttpResponse) -> Error {
        let expected = match &self.settings.paging {
            Some(paging) => format!("with a list at `{}`", paging.items),
            None => "that is a list".to_owned(),
        };
        let found = match answer.json() {
            Some(Json::Object(_)) => "another object",
            Some(_) => "other JSON",
            None if answer.body.trim_ascii().is_empty() => "nothing",
            None => "no whole JSON",
        };
        Error::Protocol {
            peer: self.http.peer().to_owned(),
            protocol: "HTTP",
            phase: Phase::Request,
            problem: format!(
                "{operation}, it answers {found}{}; expected JSON {expected}, and nothing of the pages before \
                 is given",
                quoted_message(&answer.error_message())
            ),
        }
    }
}

/// Returns the next page from a `Link` header (RFC 8288, 3).
fn next_link(links: &str) -> Option<String> {
    links.split(',').find_map(|link| {
        let (address, parameters) = link.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or_default();
            name.trim().eq_ignore_ascii_case("rel") && value.trim().trim_matches('"') == "next"
        });
        let address = address.trim().strip_prefix('<')?;
        is_next.then(|| address.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_found_among_links() {
        let links = r#"<https://x/a?page=1>; rel="prev", </a?page=3>; title=b; rel=next"#;
        assert_eq!(next_link(links).as_deref(), Some("/a?page=3"));
        assert_eq!(next_link(r#"</a>; rel="last""#), None);
    }
}
