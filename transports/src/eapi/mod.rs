//! `eapi`: switches with Arista's EOS, whose command line is available as JSON-RPC over HTTP.

mod call;
mod session;

pub use session::EapiSession;
