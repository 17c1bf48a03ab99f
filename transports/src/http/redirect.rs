//! Redirects, which are followed on the same server only.

use super::client::Http;
use super::http_request::HttpRequest;
use super::http_response::HttpResponse;
use crate::{Error, Result};

impl Http {
    /// Returns the request for a redirect on the same server, or `None` if the answer is no redirect.
    pub(super) fn redirect_target(
        &self,
        http_request: &HttpRequest,
        answer: &HttpResponse,
    ) -> Result<Option<HttpRequest>> {
        let location = answer.header("location");
        let Some(location) = location.filter(|_| answer.status.is_redirection()) else {
            return Ok(None);
        };
        match self.request_at(http_request, location) {
            Ok(target) if http_request.method.is_safe() => Ok(Some(target)),
            Ok(_) => {
                let hint = format!("it redirects to `{location}`: ask there");
                Err(self.refused(http_request, answer, &hint))
            }
            Err(error) => {
                Err(self.refused(http_request, answer, &format!("it redirects: {error}")))
            }
        }
    }

    /// Returns the same request at an address that the server names.
    ///
    /// # Errors
    /// Fails with [`Error::Unsupported`] for another server, which must not get the credentials.
    pub(crate) fn request_at(
        &self,
        http_request: &HttpRequest,
        address: &str,
    ) -> Result<HttpRequest> {
        let current = self.settings.url(&http_request.path)?;
        let target = current.join(address).ok();
        let Some(target) = target.filter(|target| target.origin() == current.origin()) else {
            return Err(Error::Unsupported(format!(
                "`{address}` is another server than {}, and gets no credentials of it: name it in \
                 `protocol`, `host` and `port` if it is meant",
                self.peer()
            )));
        };
        let query = target.query().map(|query| format!("?{query}"));
        let path = target.path().to_owned() + &query.unwrap_or_default();
        let mut http_request = http_request.clone();
        http_request.path = self.settings.relative_to_base(&path);
        Ok(http_request)
    }
}
