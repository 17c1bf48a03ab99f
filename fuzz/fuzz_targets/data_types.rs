//! Fuzzes `devgate_schemas::fuzz::data_types`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| devgate_schemas::fuzz::data_types(data));
