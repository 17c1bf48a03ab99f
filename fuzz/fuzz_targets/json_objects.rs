//! Fuzzes `devgate_transports::fuzz::json_objects`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| devgate_transports::fuzz::json_objects(data));
