//! perfschema
