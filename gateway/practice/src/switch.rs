//! One switch, shared by all who are logged in: what it runs, what it would start with.

use std::time::SystemTime;

use devgate_schemas::Sensitive;

use super::config::Config;

/// The state behind every terminal.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) running: Config,
    /// What is saved, if anything is.
    pub(super) startup: Option<Config>,
    /// When and by whom the running configuration was last changed.
    pub(super) changed: Option<(SystemTime, String)>,
    pub(super) booted: SystemTime,
    enable_password: Sensitive<String>,
    clock: fn() -> SystemTime,
}

impl Switch {
    /// A switch that has just been powered on with the factory configuration saved; `clock` tells
    /// it the time.
    pub(super) fn new(
        hostname: &str,
        enable_password: Sensitive<String>,
        clock: fn() -> SystemTime,
    ) -> Self {
        let config = Config::factory(hostname);
        Self {
            startup: Some(config.clone()),
            running: config,
            changed: None,
            booted: clock(),
            enable_password,
            clock,
        }
    }

    /// What the switch's own clock says.
    pub(super) fn now(&self) -> SystemTime {
        (self.clock)()
    }

    /// Whether `enable` takes this password.
    pub(super) fn enables(&self, password: &str) -> bool {
        self.enable_password.reveal() == password
    }

    /// Copies the running configuration to the saved one.
    pub(super) fn save(&mut self) {
        self.startup = Some(self.running.clone());
    }

    /// Does something that may change the configuration, and notes who did when it has.
    pub(super) fn noting_changes<T>(&mut self, user: &str, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.running.clone();
        let result = act(self);
        if self.running != before {
            self.changed = Some((self.now(), user.to_owned()));
        }
        result
    }
}
