//! Fuzzes `devgate_transports::fuzz::netconf`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| devgate_transports::fuzz::netconf(data));
