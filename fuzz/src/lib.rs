//! perfschema-fuzz
