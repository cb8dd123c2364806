//! `socket_instances`: the sockets that are open. Copied from their places under the state.

use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, SqlType, Sweep, TableSource, example, row};

row! {
    /// A row of [`socket_instances`](SocketInstances).
    pub struct SocketInstancesRow {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        /// The socket: a number that no other one has or had.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: u64,
        /// The thread that opened it; of an accepted one the first that used it; the last that waited there for a request.
        THREAD_ID as thread_id: Option<u64>,
        /// The descriptor.
        SOCKET_ID as socket_id: i32,
        /// Address, IPv4 or IPv6: of a connection the other end's, of a socket that listens its own. Empty for a Unix socket.
        IP as ip: Text<64>,
        /// The port that belongs to it, 0 to 65535; 0 for a Unix socket.
        PORT as port: i32,
        /// IDLE while a thread waits there for its client's next request, else ACTIVE.
        STATE as state: &'static str = SqlType::Enum(&["IDLE", "ACTIVE"]),
    }
}

/// `socket_instances`
#[doc = example!(
    "A client is connected, on descriptor 5:",
    SocketInstances,
    "{} {}:{} {}",
    [row.socket_id, row.ip, row.port, row.state],
    ["5 192.0.2.7:40001 ACTIVE"]
)]
#[derive(Clone, Copy, Debug)]
pub struct SocketInstances;

impl TableSource for SocketInstances {
    type Row = SocketInstancesRow;
    const DECLARATION: Declaration = Declaration {
        name: "socket_instances",
        doc: "The sockets that are open.",
        columns: SocketInstancesRow::COLUMNS,
        primary_key: &["OBJECT_INSTANCE_BEGIN"],
        rights: Rights::SELECT,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&SocketInstancesRow)) -> Sweep {
        region.sweep_sockets(
            |_| Some(()),
            |found, ()| {
                each(&SocketInstancesRow {
                    event_name: found.event_name,
                    object_instance_begin: found.address,
                    thread_id: (found.thread_id != 0).then_some(found.thread_id),
                    socket_id: found.descriptor,
                    ip: found.peer.ip(),
                    port: found.peer.port().into(),
                    state: if found.idle { "IDLE" } else { "ACTIVE" },
                });
            },
        )
    }
}
