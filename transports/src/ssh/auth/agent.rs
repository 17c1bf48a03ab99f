//! Authentication with the keys of an agent.

use std::path::Path;

use russh::client::AuthResult;
use russh::keys::HashAlg;
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use tokio::time::error::Elapsed;
use tokio::time::timeout_at;

use super::Login;
use crate::ssh::identities::FoundIdentities;
use crate::{Error, Result};

impl Login<'_> {
    /// Tries the agent's keys: those that are also in key files first, and no others if `IdentitiesOnly`
    /// is set.
    pub(super) async fn try_agent(
        &mut self,
        setting: &'static str,
        socket: &Path,
        found: &FoundIdentities,
    ) -> Result<bool> {
        let problem = |problem: String| Error::Setting { setting, problem };
        let asking = async {
            let mut agent = AgentClient::connect_uds(socket).await?;
            let identities = agent.request_identities().await?;
            Ok::<_, russh::keys::Error>((agent, identities))
        };
        let (mut agent, mut held) = timeout_at(self.deadline, asking)
            .await
            .map_err(|_| problem("the agent does not answer".to_owned()))?
            .map_err(|error| problem(format!("the agent cannot be asked: {error}")))?;
        let only = self.settings.identities.only;
        held.retain(|identity| !only || found.has(&identity.public_key()));
        held.sort_by_key(|identity| !found.has(&identity.public_key()));
        for identity in held {
            let key = identity.public_key().into_owned();
            let own = match identity {
                AgentIdentity::Certificate { certificate, .. } => vec![certificate],
                AgentIdentity::PublicKey { .. } => {
                    found.certificates_for(key.key_data()).cloned().collect()
                }
            };
            for hash in self.hashes(&key.algorithm()).await? {
                for certificate in &own {
                    if !self.count_attempt("agent certificate", certificate.key_id()) {
                        return Ok(false);
                    }
                    let (user, certificate) = (&self.settings.user, certificate.clone());
                    let attempt = self.handle.authenticate_certificate_with(
                        user,
                        certificate,
                        hash,
                        &mut agent,
                    );
                    let result = timeout_at(self.deadline, attempt).await;
                    if self.record_agent_result(result)? {
                        return Ok(true);
                    }
                }
                let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
                if !self.count_attempt("agent key", &fingerprint) {
                    return Ok(false);
                }
                let (user, key) = (&self.settings.user, key.clone());
                let attempt = self
                    .handle
                    .authenticate_publickey_with(user, key, hash, &mut agent);
                let result = timeout_at(self.deadline, attempt).await;
                if self.record_agent_result(result)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn record_agent_result<E>(
        &mut self,
        result: std::result::Result<std::result::Result<AuthResult, E>, Elapsed>,
    ) -> Result<bool> {
        match result {
            Err(_) => Err(self.timed_out()),
            // An agent may hold a key that it cannot use now. The next key may work.
            Ok(Err(_)) => Ok(false),
            Ok(Ok(result)) => self.record_result(Ok(Ok(result))),
        }
    }
}
