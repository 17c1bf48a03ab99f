//! `eapi`: switches with Arista's EOS, whose command line is behind JSON-RPC over HTTP.

mod call;
mod session;

pub use session::EapiSession;
