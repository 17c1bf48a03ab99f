//! `panos`: firewalls of Palo Alto Networks, by their XML API.

mod answer;
mod commit;
mod session;

pub use session::PanosSession;
