//! The whole, through the binary, against the lab's devices: start it with `tests/run`.

mod lab_awkward;
mod lab_errors;
mod lab_faults;
mod lab_frr;
mod lab_secrets;
mod support;
