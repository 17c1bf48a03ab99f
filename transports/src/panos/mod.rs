//! `panos`: Palo Alto Networks' firewalls, over their XML API.

mod answer;
mod commit;
mod session;
mod transaction;

pub use session::PanosSession;
