//! Threads: who they are, and who records for them.

mod actors;

pub(crate) use actors::{Entered, Task, started, task_id, with_actor};
pub use actors::{attach_as, current_id};
#[cfg(target_os = "linux")]
pub(crate) use actors::{forked, forking, own_actors};
pub use perfschema_core::ThreadType;
