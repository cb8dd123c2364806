//! `socket_summary_…`: the io of sockets, see [`io_summary`](super::io_summary).

use super::io_summary::{io_summary_row, sweep_event_names};
use crate::io::{IoSummary, SOCKETS};
use crate::operation::Group;
use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, Sweep, TableSource, example, row};

io_summary_row! {
    /// A row of [`socket_summary_by_instance`](SocketSummaryByInstance).
    pub struct SocketSummaryByInstanceRow, bytes u64, misc "Number of all other operations: connect, accept, bind, shutdown, opt, stat, close, …." {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
        /// The socket: a number that no other one has or had.
        OBJECT_INSTANCE_BEGIN as object_instance_begin: u64,
    }
}

io_summary_row! {
    /// A row of [`socket_summary_by_event_name`](SocketSummaryByEventName).
    pub struct SocketSummaryByEventNameRow, bytes u64, misc "Number of all other operations: connect, accept, bind, shutdown, opt, stat, close, …." {
        /// Instrument name.
        EVENT_NAME as event_name: Text<128>,
    }
}

/// `socket_summary_by_instance`
#[doc = example!(
    "100 bytes were received from a client:",
    SocketSummaryByInstance,
    "{} {}",
    [row.event_name, row.sum_number_of_bytes_read],
    ["wait/io/socket/app/client_connection 100"]
)]
#[derive(Clone, Copy, Debug)]
pub struct SocketSummaryByInstance;

impl TableSource for SocketSummaryByInstance {
    type Row = SocketSummaryByInstanceRow;
    const DECLARATION: Declaration = Declaration {
        name: "socket_summary_by_instance",
        doc: "Io of each socket that is open.",
        columns: SocketSummaryByInstanceRow::COLUMNS,
        primary_key: &["OBJECT_INSTANCE_BEGIN"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&SocketSummaryByInstanceRow)) -> Sweep {
        region.sweep_socket_sums(|found, sums| {
            each(&SocketSummaryByInstanceRow::new(found.event_name, found.address, sums));
        })
    }

    fn truncate(&self, region: &Region<'_>) {
        region.truncate_sockets();
    }
}

/// `socket_summary_by_event_name`
#[doc = example!(
    "100 bytes were received from a client, in 2 µs:",
    SocketSummaryByEventName,
    "{} {} {}",
    [row.event_name, row.sum_number_of_bytes_read, row.sum_timer_read],
    ["wait/io/socket/app/client_connection 100 2000000"]
)]
#[derive(Clone, Copy, Debug)]
pub struct SocketSummaryByEventName;

impl TableSource for SocketSummaryByEventName {
    type Row = SocketSummaryByEventNameRow;
    const DECLARATION: Declaration = Declaration {
        name: "socket_summary_by_event_name",
        doc: "Io of each instrument of sockets, summed over all threads and over all sockets, also those that are closed.",
        columns: SocketSummaryByEventNameRow::COLUMNS,
        primary_key: &["EVENT_NAME"],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&SocketSummaryByEventNameRow)) -> Sweep {
        sweep_event_names(region, &SOCKETS, |name, sums| each(&SocketSummaryByEventNameRow::new(name, sums)))
    }

    fn truncate(&self, region: &Region<'_>) {
        SOCKETS.truncate_by_event_name(region);
    }
}
