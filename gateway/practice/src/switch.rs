//! One switch, shared by all sessions: its running and saved configuration.

use std::time::SystemTime;

use devgate_schemas::Sensitive;

use super::config::Config;

/// The state behind every terminal.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) running: Config,
    /// The saved configuration, if there is one.
    pub(super) startup: Option<Config>,
    /// When and by whom the running configuration was last changed.
    pub(super) changed: Option<(SystemTime, String)>,
    pub(super) booted: SystemTime,
    enable_password: Sensitive<String>,
    clock: fn() -> SystemTime,
}

impl Switch {
    /// A switch after power-on, with the factory configuration saved. `clock` provides the time.
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

    /// The time of the switch's clock.
    pub(super) fn now(&self) -> SystemTime {
        (self.clock)()
    }

    /// Whether `enable` accepts this password.
    pub(super) fn accepts_enable_password(&self, password: &str) -> bool {
        self.enable_password.reveal() == password
    }

    /// Copies the running configuration to the saved one.
    pub(super) fn save(&mut self) {
        self.startup = Some(self.running.clone());
    }

    /// Does work that may change the configuration. If it does, records the user and the time.
    pub(super) fn recording_changes<T>(
        &mut self,
        user: &str,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.running.clone();
        let result = work(self);
        if self.running != before {
            self.changed = Some((self.now(), user.to_owned()));
        }
        result
    }
}
