//! Redirects, which are followed on the same server only.

use super::client::Http;
use super::http_request::HttpRequest;
use super::http_response::HttpResponse;
use crate::{Error, Result};

impl Http {
    /// Returns the request for a redirect on the same server, or `None` if the answer is no redirect.
    pub(super) fn redirected(
        &self,
        ask: &HttpRequest,
        answer: &HttpResponse,
    ) -> Result<Option<HttpRequest>> {
        let location = answer.header("location");
        let Some(location) = location.filter(|_| answer.status.is_redirection()) else {
            return Ok(None);
        };
        match self.at(ask, location) {
            Ok(there) if ask.method.is_safe() => Ok(Some(there)),
            Ok(_) => {
                let hint = format!("it redirects to `{location}`: ask there");
                Err(self.refused(ask, answer, &hint))
            }
            Err(error) => Err(self.refused(ask, answer, &format!("it redirects: {error}"))),
        }
    }

    /// Returns the same request at an address that the server names.
    ///
    /// # Errors
    /// Fails with [`Error::Unsupported`] for another server, which must not get the credentials.
    pub(crate) fn at(&self, ask: &HttpRequest, address: &str) -> Result<HttpRequest> {
        let here = self.settings.url(&ask.path)?;
        let there = here.join(address).ok();
        let Some(there) = there.filter(|there| there.origin() == here.origin()) else {
            return Err(Error::Unsupported(format!(
                "`{address}` is another server than {}, and gets no credentials of it: name it in \
                 `protocol`, `host` and `port` if it is meant",
                self.peer()
            )));
        };
        let query = there.query().map(|query| format!("?{query}"));
        let path = there.path().to_owned() + &query.unwrap_or_default();
        let mut ask = ask.clone();
        ask.path = self.settings.below_base(&path);
        Ok(ask)
    }
}
