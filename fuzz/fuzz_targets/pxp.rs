//! Fuzzes `devgate_schemas::fuzz::pxp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| devgate_schemas::fuzz::pxp(data));
