//! `rest`: REST and other APIs over HTTP, for devices of which no family tells more.

mod paging;
mod session;
mod settings;
#[cfg(test)]
mod tests;

pub use session::RestSession;
