//! Fuzzes `devgate_devices::fuzz::textfsm`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| devgate_devices::fuzz::textfsm(data));
