#![cfg_attr(perfschema_loom, doc = "Explores.")]
//! Models of the lock-free protocols of `perfschema-core`, one a file in `tests/`.
