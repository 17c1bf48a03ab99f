//! Fuzzes `devgate_transports::fuzz::command_line`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| devgate_transports::fuzz::command_line(data));
