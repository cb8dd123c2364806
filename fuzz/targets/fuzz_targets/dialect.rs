#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| perfschema_fuzz::dialect::dialect(data));
