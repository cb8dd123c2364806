//! perfschema-benches
