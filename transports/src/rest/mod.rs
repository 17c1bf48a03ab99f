//! `rest`: REST and other APIs over HTTP, for devices without a family of their own.

mod paging;
mod session;
mod settings;
#[cfg(test)]
mod tests;

pub use session::RestSession;
