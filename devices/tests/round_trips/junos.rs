//! A device with Junos.

use crate::session::Simulator;

#[derive(Clone, Debug, Default)]
pub(crate) struct Junos;

impl Simulator for Junos {
    fn answer(&self, _: &str) -> Result<String, String> {
        Err("no".into())
    }
    fn apply(&mut self, _: &[String]) -> Result<(), String> {
        Ok(())
    }
}
