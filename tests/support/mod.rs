//! The shared parts of the integration tests: a project to run devgate in, the runs, and the lab with its
//! devices.

#[expect(dead_code, reason = "its own test uses more of it")]
pub(crate) mod awkward;
#[expect(dead_code, reason = "the other tests of the documents use more of it")]
pub(crate) mod blocks;
pub(crate) mod delay;
pub(crate) mod http;
pub(crate) mod lab;
pub(crate) mod line;
pub(crate) mod link;
pub(crate) mod ovsdb;
pub(crate) mod peers;
pub(crate) mod process_list;
pub(crate) mod programs;
pub(crate) mod project;
pub(crate) mod puppet;
pub(crate) mod pxp;
pub(crate) mod pxp_agent;
pub(crate) mod run;
pub(crate) mod silent_proxy;
pub(crate) mod tls;
pub(crate) mod vendors;
