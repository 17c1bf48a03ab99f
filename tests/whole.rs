//! The whole, through the binary: against the lab's devices, which `tests/run` starts, and without any.

mod contract;
mod lab_awkward;
mod lab_errors;
mod lab_fakes;
mod lab_faults;
mod lab_frr;
mod lab_hosts;
mod lab_legacyssh;
mod lab_links;
mod lab_netconf;
mod lab_ovsdb;
mod lab_pool;
mod lab_record;
mod lab_rest;
mod lab_restconf;
mod lab_secrets;
mod lab_session;
mod lab_snmp;
mod lab_ssh_ways;
mod lab_vty;
mod offline;
mod run_as;
mod support;
mod tasks;
mod transport_schemas;
mod vendors;
