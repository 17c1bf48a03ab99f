//! Authentication.
//!
//! A configured key is tried first. The agent's keys and those of files are tried only if neither a key
//! nor a password is configured. A certificate is tried before its key. A password is sent once, by
//! whichever of `password` and `keyboard-interactive` the host offers, because a wrong password must
//! not count twice towards an account lockout. For the same reason, no method is tried merely because
//! OpenSSH would try it next.

mod agent;
mod keyboard_interactive;

use std::sync::Arc;

use devgate_schemas::Sensitive;
use russh::client::{AuthResult, Handle};
use russh::keys::{Algorithm, HashAlg, PrivateKey, PrivateKeyWithHashAlg};
use russh::{MethodKind, MethodSet};
use tokio::time::{Instant, timeout_at};

use super::algorithms::Strength;
use super::handler::{EventHandler, PeerMessages};
use super::identities::{self, FoundIdentities};
use super::private_key;
use super::settings::{Role, Settings};
use crate::error::{AuthenticationProblem, Phase};
use crate::permissions::others_may_read;
use crate::{Context, Error, Result};

/// The maximum number of keys offered: hosts close the connection after about six.
const MAX_KEYS: usize = 5;

/// One login attempt.
pub(super) struct Login<'a> {
    ctx: &'a Context<'a>,
    pub(super) handle: &'a mut Handle<EventHandler>,
    pub(super) settings: &'a Settings,
    pub(super) messages: &'a PeerMessages,
    pub(super) deadline: Instant,
    tried: Vec<String>,
    keys_tried: usize,
    /// Reasons why existing keys and certificates could not be tried.
    unusable: Vec<String>,
    /// The methods that the host offers now.
    offered: Option<MethodSet>,
    /// The methods that it offered first: some hosts stop listing a method that has failed.
    offered_first: Option<MethodSet>,
}

impl<'a> Login<'a> {
    pub(super) fn new(
        ctx: &'a Context<'a>,
        handle: &'a mut Handle<EventHandler>,
        settings: &'a Settings,
        messages: &'a PeerMessages,
        deadline: Instant,
    ) -> Self {
        Self {
            ctx,
            handle,
            settings,
            messages,
            deadline,
            tried: Vec::new(),
            keys_tried: 0,
            unusable: Vec::new(),
            offered: None,
            offered_first: None,
        }
    }

    /// Logs in with the credentials of the settings.
    ///
    /// # Errors
    /// Fails with [`Error::Authentication`] when the host refuses, with [`Error::TimedOut`] when it does not answer.
    pub(super) async fn log_in(mut self) -> Result<()> {
        let settings = self.settings;
        self.warn_about_key_files();
        if let Some((key, found)) = identities::configured(settings).await? {
            self.unusable = found.unusable.clone();
            if self.try_key(Arc::new(key), &found).await? {
                return Ok(());
            }
        } else if settings.password.is_none() {
            let found = identities::default_keys(settings).await;
            self.unusable = found.unusable.clone();
            if let Some((setting, socket)) = settings.identities.agent.socket()
                && self.try_agent(setting, &socket, &found).await?
            {
                return Ok(());
            }
            for identity in found.keys.iter() {
                if let Some(key) = &identity.private
                    && self.try_key(Arc::new(key.clone()), &found).await?
                {
                    return Ok(());
                }
            }
            if self.tried.is_empty() && self.try_none().await? {
                return Ok(());
            }
        }
        if let Some(password) = &settings.password {
            // This first request shows which method accepts the password, so that it is sent only once.
            if self.offered.is_none() && self.try_none().await? {
                return Ok(());
            }
            let let_in = if self.offers(MethodKind::Password) {
                self.try_password(password).await?
            } else if self.offers(MethodKind::KeyboardInteractive) {
                self.try_keyboard_interactive(password).await?
            } else {
                false
            };
            if let_in {
                return Ok(());
            }
        }
        Err(self.refused(""))
    }

    /// Warns about key files that other users can read; OpenSSH refuses such keys.
    fn warn_about_key_files(&self) {
        let settings = self.settings;
        let configured = settings.private_key.as_ref().and_then(private_key::file);
        let files = match (configured, &settings.password) {
            (Some(configured), _) => vec![configured.into()],
            (None, None) if settings.private_key.is_none() => settings.identities.files.clone(),
            (None, _) => Vec::new(),
        };
        for file in files.iter().filter(|file| others_may_read(file)) {
            let file = file.display();
            self.ctx.warning(format!(
                "other users can read the private key {file}: `chmod 600 {file}`; consider it compromised"
            ));
        }
    }

    /// Tries to log in without credentials. A refusal lists the methods that the host offers.
    async fn try_none(&mut self) -> Result<bool> {
        let attempt = self.handle.authenticate_none(&self.settings.user);
        let result = with_deadline(self.deadline, attempt).await;
        self.record_result(result)
    }

    /// Tries the key's certificates, then the key itself.
    async fn try_key(&mut self, key: Arc<PrivateKey>, found: &FoundIdentities) -> Result<bool> {
        for certificate in found.certificates_for(key.public_key().key_data()) {
            // russh signs for RSA certificates with SHA-1, which hosts refuse.
            if matches!(certificate.algorithm(), Algorithm::Rsa { .. }) {
                let id = certificate.key_id();
                let unusable = format!("certificate `{id}` is of an RSA key: use an agent for it");
                self.unusable.push(unusable);
                continue;
            }
            if !self.count_attempt("certificate", certificate.key_id()) {
                return Ok(false);
            }
            let (user, key) = (&self.settings.user, Arc::clone(&key));
            let attempt = self
                .handle
                .authenticate_openssh_cert(user, key, certificate.clone());
            let result = with_deadline(self.deadline, attempt).await;
            if self.record_result(result)? {
                return Ok(true);
            }
        }
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        for hash in self.hashes(&key.algorithm()).await? {
            if !self.count_attempt("private key", &fingerprint) {
                return Ok(false);
            }
            let key = PrivateKeyWithHashAlg::new(Arc::clone(&key), hash);
            let attempt = self.handle.authenticate_publickey(&self.settings.user, key);
            let result = with_deadline(self.deadline, attempt).await;
            if self.record_result(result)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Records that a key is tried. Returns `false` if the limit is reached.
    fn count_attempt(&mut self, what: &str, name: &str) -> bool {
        if self.keys_tried == MAX_KEYS {
            return false;
        }
        self.keys_tried += 1;
        let tried = format!("{what} {name}");
        if !self.tried.contains(&tried) {
            self.tried.push(tried);
        }
        true
    }

    /// Returns the signature hashes to try: the one that the host prefers, or several if it states none.
    ///
    /// If weak algorithms are allowed, SHA-1 comes last in any case: some hosts announce hashes that
    /// they are configured to refuse.
    async fn hashes(&mut self, algorithm: &Algorithm) -> Result<Vec<Option<HashAlg>>> {
        let algorithms = &self.settings.algorithms;
        if !matches!(algorithm, Algorithm::Rsa { .. }) {
            let taken = algorithms.allows_user_key(algorithm);
            return Ok(taken.then_some(None).into_iter().collect());
        }
        let mut hashes =
            match with_deadline(self.deadline, self.handle.best_supported_rsa_hash()).await {
                Ok(Ok(Some(best))) => vec![best],
                Ok(_) => vec![Some(HashAlg::Sha512), None],
                Err(()) => return Err(self.timed_out()),
            };
        if algorithms.strength == Strength::Legacy && !hashes.contains(&None) {
            hashes.push(None);
        }
        hashes.retain(|hash| algorithms.allows_user_key(&Algorithm::Rsa { hash: *hash }));
        Ok(hashes)
    }

    async fn try_password(&mut self, password: &Sensitive<String>) -> Result<bool> {
        self.tried.push("password".to_owned());
        let user = &self.settings.user;
        let attempt = self
            .handle
            .authenticate_password(user, password.reveal().as_str());
        let result = with_deadline(self.deadline, attempt).await;
        self.record_result(result)
    }

    /// Records the result of a try. Returns whether the host accepted it.
    fn record_result(
        &mut self,
        result: std::result::Result<std::result::Result<AuthResult, russh::Error>, ()>,
    ) -> Result<bool> {
        match result {
            Err(()) => Err(self.timed_out()),
            Ok(Err(error)) => Err(self.ended(&error.to_string())),
            Ok(Ok(AuthResult::Success)) => Ok(true),
            Ok(Ok(AuthResult::Failure {
                remaining_methods, ..
            })) => {
                if remaining_methods.is_empty() && self.handle.is_closed() {
                    return Err(self.ended("it closed the connection"));
                }
                self.offered_first
                    .get_or_insert_with(|| remaining_methods.clone());
                self.offered = Some(remaining_methods);
                Ok(false)
            }
        }
    }

    /// Returns whether the host offers a method. Before it has listed any, every method counts as offered.
    fn offers(&self, method: MethodKind) -> bool {
        self.offered
            .as_ref()
            .is_none_or(|offered| offered.contains(&method))
    }

    fn timed_out(&self) -> Error {
        Error::TimedOut {
            peer: self.settings.peer(),
            phase: Phase::Authentication,
            limit: self.settings.timeout,
            hint: format!(
                ": its login server may be slow (`{}`), or it wants a new password, which has to \
                 be set by hand first",
                self.settings.setting_names.timeout
            ),
        }
    }

    /// Returns the error for a connection that ended. Only a disconnect message from the host counts as a refusal
    /// of the credentials. Any other end is an interruption. Because some hosts refuse in that way, too, such
    /// logins are counted.
    fn ended(&self, why: &str) -> Error {
        let peer = self.settings.peer();
        let phase = Phase::Authentication;
        if let Some(problem) = self.messages.violation() {
            return Error::Protocol {
                peer,
                protocol: "SSH",
                phase,
                problem,
            };
        }
        if !self.tried.is_empty() {
            if self.messages.has_disconnected() {
                return self.refused(why);
            }
            self.ctx.retry_budget().record_lost_login();
        }
        let message = self.messages.last_message();
        Error::Closed {
            peer,
            phase,
            message,
        }
    }

    fn refused(&self, why: &str) -> Error {
        let Settings {
            user,
            password,
            private_key,
            role,
            ..
        } = self.settings;
        let offered: Vec<&'static str> = self
            .offered_first
            .iter()
            .flat_map(|methods| methods.iter())
            .map(<&'static str>::from)
            .collect();
        let key = self.settings.setting_names.private_key;
        let check = match (role, password, private_key) {
            (Role::JumpHost { requested_host }, ..) => format!(
                "a jump host needs a key: of an agent, or as `IdentityFile` under `Host \
                 {requested_host}` in ~/.ssh/config; its user stands in `proxyjump`, or as `User` there"
            ),
            (_, Some(_), Some(_)) => format!("check `user`, `{key}` and `password`"),
            (_, Some(_), None) => "check `user` and `password`".to_owned(),
            (_, None, Some(_)) => format!("check `user` and `{key}`, or give a `password`"),
            (_, None, None) => format!("give a `password` or a `{key}`, or start an agent"),
        };
        let check = match self.unusable.join("; ") {
            unusable if unusable.is_empty() => check,
            unusable => format!("{check} ({unusable})"),
        };
        let separator = if why.is_empty() { "" } else { "; " };
        Error::Authentication(Box::new(AuthenticationProblem {
            peer: self.settings.peer(),
            user: user.clone(),
            tried: if self.tried.is_empty() {
                "without credentials".to_owned()
            } else {
                self.tried.join(", ")
            },
            offered,
            message: self.messages.last_message(),
            next: format!("{why}{separator}{check}"),
        }))
    }
}

/// Limits an operation that russh might wait for forever.
async fn with_deadline<T>(
    deadline: Instant,
    attempt: impl Future<Output = T>,
) -> std::result::Result<T, ()> {
    timeout_at(deadline, attempt).await.map_err(|_| ())
}
