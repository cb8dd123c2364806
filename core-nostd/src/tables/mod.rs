//! The tables, one module each; [`ALL`] lists them. Their examples read one region: that of a program with a thread, and one of each thing
//! that a thread uses.
//!
//! To add one: a module here, its `pub use`, and its line in [`ALL`]. Names, columns, order, types and NULL rules are MySQL's where MySQL has the
//! table (WL#2360, and the columns of later versions where there is the fact).

mod by_event_name;
mod by_thread;
pub(crate) mod cond_instances;
mod doing;
mod event_summary;
pub(crate) mod events_stages;
pub(crate) mod events_stages_summary;
pub(crate) mod events_statements;
pub(crate) mod events_statements_summary;
pub(crate) mod events_statements_summary_by_digest;
pub(crate) mod events_transactions;
pub(crate) mod events_transactions_summary;
pub(crate) mod events_waits;
pub(crate) mod events_waits_histogram_by_event_name;
pub(crate) mod events_waits_summary;
pub(crate) mod file_instances;
pub(crate) mod file_summary;
pub(crate) mod global_status;
pub(crate) mod global_variables;
pub(crate) mod innodb_metrics;
mod io_summary;
pub(crate) mod memory_summary;
pub(crate) mod mutex_instances;
pub(crate) mod performance_timers;
pub(crate) mod processlist;
pub(crate) mod rwlock_instances;
pub(crate) mod setup_actors;
pub(crate) mod setup_consumers;
pub(crate) mod setup_instruments;
pub(crate) mod setup_timers;
pub(crate) mod single_events;
pub(crate) mod socket_instances;
pub(crate) mod socket_summary;
pub(crate) mod threads;

pub use cond_instances::{CondInstances, CondInstancesRow};
pub use events_stages::{EventsStagesCurrent, EventsStagesHistory, EventsStagesHistoryLong, EventsStagesRow};
pub use events_stages_summary::{
    EventsStagesSummaryByThreadByEventName, EventsStagesSummaryByThreadByEventNameRow, EventsStagesSummaryGlobalByEventName,
    EventsStagesSummaryGlobalByEventNameRow,
};
pub use events_statements::{EventsStatementsCurrent, EventsStatementsHistory, EventsStatementsHistoryLong, EventsStatementsRow};
pub use events_statements_summary::{
    EventsStatementsSummaryByThreadByEventName, EventsStatementsSummaryByThreadByEventNameRow,
    EventsStatementsSummaryGlobalByEventName, EventsStatementsSummaryGlobalByEventNameRow,
};
pub use events_statements_summary_by_digest::{EventsStatementsSummaryByDigest, EventsStatementsSummaryByDigestRow};
pub use events_transactions::{
    EventsTransactionsCurrent, EventsTransactionsHistory, EventsTransactionsHistoryLong, EventsTransactionsRow,
};
pub use events_transactions_summary::{
    EventsTransactionsSummaryByThreadByEventName, EventsTransactionsSummaryByThreadByEventNameRow,
    EventsTransactionsSummaryGlobalByEventName, EventsTransactionsSummaryGlobalByEventNameRow,
};
pub use events_waits::{EventsWaitsCurrent, EventsWaitsHistory, EventsWaitsHistoryLong, EventsWaitsRow};
pub use events_waits_histogram_by_event_name::{EventsWaitsHistogramByEventName, EventsWaitsHistogramByEventNameRow};
pub use events_waits_summary::{
    EventsWaitsSummaryByInstance, EventsWaitsSummaryByInstanceRow, EventsWaitsSummaryByThreadByEventName,
    EventsWaitsSummaryByThreadByEventNameRow, EventsWaitsSummaryGlobalByEventName, EventsWaitsSummaryGlobalByEventNameRow,
};
pub use file_instances::{FileInstances, FileInstancesRow};
pub use file_summary::{FileSummaryByEventName, FileSummaryByEventNameRow, FileSummaryByInstance, FileSummaryByInstanceRow};
pub use global_status::{GlobalStatus, GlobalStatusRow};
pub use global_variables::{GlobalVariables, GlobalVariablesRow};
pub use innodb_metrics::{InnodbMetrics, InnodbMetricsRow};
pub use memory_summary::{
    MemorySummaryByThreadByEventName, MemorySummaryByThreadByEventNameRow, MemorySummaryGlobalByEventName,
    MemorySummaryGlobalByEventNameRow,
};
pub use mutex_instances::{MutexInstances, MutexInstancesRow};
pub use performance_timers::{PerformanceTimers, PerformanceTimersRow};
pub use processlist::{Processlist, ProcesslistRow};
pub use rwlock_instances::{RwlockInstances, RwlockInstancesRow};
pub use setup_actors::{SetupActors, SetupActorsRow};
pub use setup_consumers::{SetupConsumers, SetupConsumersRow};
pub use setup_instruments::{SetupInstruments, SetupInstrumentsRow};
pub use setup_timers::{SetupTimers, SetupTimersRow};
pub use socket_instances::{SocketInstances, SocketInstancesRow};
pub use socket_summary::{
    SocketSummaryByEventName, SocketSummaryByEventNameRow, SocketSummaryByInstance, SocketSummaryByInstanceRow,
};
pub use threads::{Threads, ThreadsRow};

use crate::table::{Table, TableError};

/// Every table, in alphabetical order, as SHOW TABLES lists them.
pub const ALL: &[&dyn Table] = &[
    &CondInstances,
    &EventsStagesCurrent,
    &EventsStagesHistory,
    &EventsStagesHistoryLong,
    &EventsStagesSummaryByThreadByEventName,
    &EventsStagesSummaryGlobalByEventName,
    &EventsStatementsCurrent,
    &EventsStatementsHistory,
    &EventsStatementsHistoryLong,
    &EventsStatementsSummaryByDigest,
    &EventsStatementsSummaryByThreadByEventName,
    &EventsStatementsSummaryGlobalByEventName,
    &EventsTransactionsCurrent,
    &EventsTransactionsHistory,
    &EventsTransactionsHistoryLong,
    &EventsTransactionsSummaryByThreadByEventName,
    &EventsTransactionsSummaryGlobalByEventName,
    &EventsWaitsCurrent,
    &EventsWaitsHistogramByEventName,
    &EventsWaitsHistory,
    &EventsWaitsHistoryLong,
    &EventsWaitsSummaryByInstance,
    &EventsWaitsSummaryByThreadByEventName,
    &EventsWaitsSummaryGlobalByEventName,
    &FileInstances,
    &FileSummaryByEventName,
    &FileSummaryByInstance,
    &GlobalStatus,
    &GlobalVariables,
    &InnodbMetrics::NOW,
    &MemorySummaryByThreadByEventName,
    &MemorySummaryGlobalByEventName,
    &MutexInstances,
    &PerformanceTimers,
    &Processlist,
    &RwlockInstances,
    &SetupActors,
    &SetupConsumers,
    &SetupInstruments,
    &SetupTimers,
    &SocketInstances,
    &SocketSummaryByEventName,
    &SocketSummaryByInstance,
    &Threads,
];

/// The table of this name, in any letter case.
///
/// # Errors
/// [`TableError::UnknownTable`].
///
/// ```
/// use perfschema_core::tables;
/// let table = tables::find("EVENTS_WAITS_CURRENT")?;
/// assert_eq!((table.schema(), table.declaration().name), ("performance_schema", "events_waits_current"));
/// assert_eq!(tables::find("t").unwrap_err().errno(), 1146);
/// # Ok::<(), perfschema_core::table::TableError>(())
/// ```
pub fn find(name: &str) -> Result<&'static dyn Table, TableError> {
    ALL.iter()
        .copied()
        .find(|table| table.declaration().name.eq_ignore_ascii_case(name))
        .ok_or_else(|| TableError::UnknownTable { table: name.into() })
}
