//! Fuzzes `devgate_transports::fuzz::snmp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| devgate_transports::fuzz::snmp(data));
