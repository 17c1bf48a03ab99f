//! Logging in.
//!
//! A key that is named is tried first; an agent's keys and those of files only where nothing else is
//! named. A certificate is shown before its key. A password
//! is used once, by whichever of `password` and `keyboard-interactive` the host takes: a wrong one
//! must not count twice towards a lockout. That is why no method is tried merely because OpenSSH
//! would try it next.

mod agent;
mod answers;

use std::sync::Arc;

use devgate_schemas::Sensitive;
use russh::client::{AuthResult, Handle};
use russh::keys::{Algorithm, HashAlg, PrivateKey, PrivateKeyWithHashAlg};
use russh::{MethodKind, MethodSet};
use tokio::time::{Instant, timeout_at};

use super::algorithms::Strength;
use super::handler::{Client, Heard};
use super::identities::{self, Found};
use super::private_key;
use super::settings::{Role, Settings};
use crate::error::{AuthenticationProblem, Phase};
use crate::permissions::others_may_read;
use crate::{Context, Error, Result};

/// How many keys are shown: hosts close the connection after about six.
const MOST_KEYS: usize = 5;

/// One login.
pub(super) struct Login<'a> {
    ctx: &'a Context<'a>,
    pub(super) handle: &'a mut Handle<Client>,
    pub(super) settings: &'a Settings,
    pub(super) heard: &'a Heard,
    pub(super) deadline: Instant,
    tried: Vec<String>,
    keys_shown: usize,
    /// Why keys and certificates that are there could not be tried.
    useless: Vec<String>,
    /// What the host offers now.
    offered: Option<MethodSet>,
    /// What it offered at first: some hosts no longer name a method that has failed.
    offered_first: Option<MethodSet>,
}

impl<'a> Login<'a> {
    pub(super) fn new(
        ctx: &'a Context<'a>,
        handle: &'a mut Handle<Client>,
        settings: &'a Settings,
        heard: &'a Heard,
        deadline: Instant,
    ) -> Self {
        Self {
            ctx,
            handle,
            settings,
            heard,
            deadline,
            tried: Vec::new(),
            keys_shown: 0,
            useless: Vec::new(),
            offered: None,
            offered_first: None,
        }
    }

    /// Logs in with what the settings have.
    ///
    /// # Errors
    /// [`Error::Authentication`] when it is refused, [`Error::TimedOut`] when no answer comes.
    pub(super) async fn log_in(mut self) -> Result<()> {
        let settings = self.settings;
        self.warn_of_keys();
        if let Some((key, found)) = identities::named(settings).await? {
            self.useless = found.useless.clone();
            if self.by_key(Arc::new(key), &found).await? {
                return Ok(());
            }
        } else if settings.password.is_none() {
            let found = identities::others(settings).await;
            self.useless = found.useless.clone();
            if let Some((setting, socket)) = settings.identities.agent.socket()
                && self.by_agent(setting, &socket, &found).await?
            {
                return Ok(());
            }
            for identity in found.keys.iter() {
                if let Some(key) = &identity.private
                    && self.by_key(Arc::new(key.clone()), &found).await?
                {
                    return Ok(());
                }
            }
            if self.tried.is_empty() && self.by_nothing().await? {
                return Ok(());
            }
        }
        if let Some(password) = &settings.password {
            // Asking first tells which method takes the password; it is then sent once.
            if self.offered.is_none() && self.by_nothing().await? {
                return Ok(());
            }
            let let_in = if self.offers(MethodKind::Password) {
                self.by_password(password).await?
            } else if self.offers(MethodKind::KeyboardInteractive) {
                self.by_answers(password).await?
            } else {
                false
            };
            if let_in {
                return Ok(());
            }
        }
        Err(self.refused(""))
    }

    /// Warns of keys that others could use as well; OpenSSH takes none of these.
    fn warn_of_keys(&self) {
        let settings = self.settings;
        let named = settings.private_key.as_ref().and_then(private_key::file);
        let files = match (named, &settings.password) {
            (Some(named), _) => vec![named.into()],
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

    /// Asks to be let in without credentials; a refusal tells what the host offers.
    async fn by_nothing(&mut self) -> Result<bool> {
        let trying = self.handle.authenticate_none(&self.settings.user);
        let result = bounded(self.deadline, trying).await;
        self.noted(result)
    }

    /// Shows the key's certificates, then the key itself.
    async fn by_key(&mut self, key: Arc<PrivateKey>, found: &Found) -> Result<bool> {
        for certificate in found.of(key.public_key().key_data()) {
            // russh signs for these with SHA-1, which hosts refuse.
            if matches!(certificate.algorithm(), Algorithm::Rsa { .. }) {
                let id = certificate.key_id();
                let useless = format!("certificate `{id}` is of an RSA key: use an agent for it");
                self.useless.push(useless);
                continue;
            }
            if !self.may_try("certificate", certificate.key_id()) {
                return Ok(false);
            }
            let (user, key) = (&self.settings.user, Arc::clone(&key));
            let trying = self
                .handle
                .authenticate_openssh_cert(user, key, certificate.clone());
            let result = bounded(self.deadline, trying).await;
            if self.noted(result)? {
                return Ok(true);
            }
        }
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        for hash in self.hashes(&key.algorithm()).await? {
            if !self.may_try("private key", &fingerprint) {
                return Ok(false);
            }
            let key = PrivateKeyWithHashAlg::new(Arc::clone(&key), hash);
            let trying = self.handle.authenticate_publickey(&self.settings.user, key);
            let result = bounded(self.deadline, trying).await;
            if self.noted(result)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Notes that a key is shown, unless it would be one too many.
    fn may_try(&mut self, what: &str, name: &str) -> bool {
        if self.keys_shown == MOST_KEYS {
            return false;
        }
        self.keys_shown += 1;
        let tried = format!("{what} {name}");
        if !self.tried.contains(&tried) {
            self.tried.push(tried);
        }
        true
    }

    /// The hashes to sign with: those that the host says it takes, or both where it says nothing.
    ///
    /// With weak algorithms allowed, SHA-1 comes behind whatever is said: some hosts name hashes
    /// that they were told to refuse.
    async fn hashes(&mut self, algorithm: &Algorithm) -> Result<Vec<Option<HashAlg>>> {
        let algorithms = &self.settings.algorithms;
        if !matches!(algorithm, Algorithm::Rsa { .. }) {
            let taken = algorithms.takes_user_key(algorithm);
            return Ok(taken.then_some(None).into_iter().collect());
        }
        let mut hashes = match bounded(self.deadline, self.handle.best_supported_rsa_hash()).await {
            Ok(Ok(Some(best))) => vec![best],
            Ok(_) => vec![Some(HashAlg::Sha512), None],
            Err(()) => return Err(self.timed_out()),
        };
        if algorithms.strength == Strength::Legacy && !hashes.contains(&None) {
            hashes.push(None);
        }
        hashes.retain(|hash| algorithms.takes_user_key(&Algorithm::Rsa { hash: *hash }));
        Ok(hashes)
    }

    async fn by_password(&mut self, password: &Sensitive<String>) -> Result<bool> {
        self.tried.push("password".to_owned());
        let user = &self.settings.user;
        let trying = self
            .handle
            .authenticate_password(user, password.reveal().as_str());
        let result = bounded(self.deadline, trying).await;
        self.noted(result)
    }

    /// Notes what a try came to: whether it let us in.
    fn noted(
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

    /// Whether the host takes a method, as far as it has said.
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
                self.settings.words.timeout
            ),
        }
    }

    /// The connection ended. Only a host that says that it ends it has refused the credentials that
    /// were sent; any other end is an interruption, though some hosts refuse in that way: that is why
    /// logins which end so are counted.
    fn ended(&self, why: &str) -> Error {
        let peer = self.settings.peer();
        let phase = Phase::Authentication;
        if let Some(problem) = self.heard.breach() {
            return Error::Protocol {
                peer,
                protocol: "SSH",
                phase,
                problem,
            };
        }
        if !self.tried.is_empty() {
            if self.heard.has_disconnected() {
                return self.refused(why);
            }
            self.ctx.retry_budget().login_lost();
        }
        let said = self.heard.said();
        Error::Closed { peer, phase, said }
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
        let key = self.settings.words.private_key;
        let check = match (role, password, private_key) {
            (Role::OnTheWay { asked }, ..) => format!(
                "a host on the way needs a key: of an agent, or as `IdentityFile` under `Host \
                 {asked}` in ~/.ssh/config; its user stands in `proxyjump`, or as `User` there"
            ),
            (_, Some(_), Some(_)) => format!("check `user`, `{key}` and `password`"),
            (_, Some(_), None) => "check `user` and `password`".to_owned(),
            (_, None, Some(_)) => format!("check `user` and `{key}`, or give a `password`"),
            (_, None, None) => format!("give a `password` or a `{key}`, or start an agent"),
        };
        let check = match self.useless.join("; ") {
            useless if useless.is_empty() => check,
            useless => format!("{check} ({useless})"),
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
            said: self.heard.said(),
            next: format!("{why}{separator}{check}"),
        }))
    }
}

/// Ends what russh would wait for without end.
async fn bounded<T>(
    deadline: Instant,
    trying: impl Future<Output = T>,
) -> std::result::Result<T, ()> {
    timeout_at(deadline, trying).await.map_err(|_| ())
}
