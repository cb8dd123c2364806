//! MySQL's protocol 4.1, the server's side.

pub(crate) mod authentication;
pub(crate) mod command;
mod compression;
pub(crate) mod connection;
pub(crate) mod handshake;
mod moment;
pub(crate) mod packet;
mod prepared;
pub(crate) mod response;
