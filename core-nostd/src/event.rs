//! Where the events of a class are kept: single ones in rings and in a long history, and their sums.
//!
//! Each class of events that shows single ones has an [`EventStore`]; what is recorded there, and read from there, is the same code for all
//! of them.

use crate::config::Size;
use crate::lost::Lost;
use crate::name::EventClass;
use crate::region::{Region, Section, header};
use crate::setup::Consumer;
use crate::slot;
use crate::statement::{self, Sizes};
use crate::sync::Word;
use crate::transaction;

/// Where events of one class are, and what decides whether they come there.
#[derive(Debug)]
pub(crate) struct EventStore {
    pub(crate) class: EventClass,
    /// A run of records for each slot.
    pub(crate) rings: Section,
    /// Rows of the history of each.
    pub(crate) history_size: Size,
    pub(crate) long_chunks: Section,
    pub(crate) long_records: Section,
    /// The word of the header that counts chunks drawn.
    pub(crate) next_long_chunk: usize,
    pub(crate) long_lost: Lost,
    /// What `events_…_current`, `_history` and `_history_long` depend on.
    pub(crate) current: Consumer,
    pub(crate) history: Consumer,
    pub(crate) history_long: Consumer,
    /// The word of a slot that its two tables of sums are truncated by.
    pub(crate) epochs: usize,
    /// Whether its records have more besides than every event: see [`beside`](Self::beside).
    pub(crate) has_more: bool,
}

impl EventStore {
    /// All words that a record has besides.
    pub(crate) fn beside<'r>(&self, region: &Region<'r>, place: Place) -> impl Iterator<Item = &'r Word> + use<'r> {
        let statement = (self.class == EventClass::Statement).then(|| statement::Entry::of(region, Sizes::of(region), place));
        let transaction = (self.class == EventClass::Transaction).then(|| transaction::Entry::of(region, place));
        let statement = statement.into_iter().flat_map(statement::Entry::all_words);
        statement.chain(transaction.into_iter().flat_map(transaction::Entry::all_words))
    }
}

/// A record's index in the section of rings, or of the long history.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Ring(usize),
    Long(usize),
}

/// `events_waits_…`.
pub(crate) const WAITS: EventStore = EventStore {
    class: EventClass::Wait,
    rings: Section::Rings,
    history_size: Size::EventsWaitsHistorySize,
    long_chunks: Section::LongChunks,
    long_records: Section::LongRecords,
    next_long_chunk: header::NEXT_LONG_CHUNK,
    long_lost: Lost::HistoryLongRows,
    current: Consumer::EventsWaitsCurrent,
    history: Consumer::EventsWaitsHistory,
    history_long: Consumer::EventsWaitsHistoryLong,
    epochs: slot::word::EPOCHS,
    has_more: false,
};

/// `events_stages_…`.
pub(crate) const STAGES: EventStore = EventStore {
    class: EventClass::Stage,
    rings: Section::StageRings,
    history_size: Size::EventsStagesHistorySize,
    long_chunks: Section::StageLongChunks,
    long_records: Section::StageLongRecords,
    next_long_chunk: header::NEXT_STAGE_LONG_CHUNK,
    long_lost: Lost::StageHistoryLongRows,
    current: Consumer::EventsStagesCurrent,
    history: Consumer::EventsStagesHistory,
    history_long: Consumer::EventsStagesHistoryLong,
    epochs: slot::word::STAGE_EPOCHS,
    has_more: false,
};

/// `events_statements_…`.
pub(crate) const STATEMENTS: EventStore = EventStore {
    class: EventClass::Statement,
    rings: Section::StatementRings,
    history_size: Size::EventsStatementsHistorySize,
    long_chunks: Section::StatementLongChunks,
    long_records: Section::StatementLongRecords,
    next_long_chunk: header::NEXT_STATEMENT_LONG_CHUNK,
    long_lost: Lost::StatementHistoryLongRows,
    current: Consumer::EventsStatementsCurrent,
    history: Consumer::EventsStatementsHistory,
    history_long: Consumer::EventsStatementsHistoryLong,
    epochs: slot::word::STATEMENT_EPOCHS,
    has_more: true,
};

/// `events_transactions_…`.
pub(crate) const TRANSACTIONS: EventStore = EventStore {
    class: EventClass::Transaction,
    rings: Section::TransactionRings,
    history_size: Size::EventsTransactionsHistorySize,
    long_chunks: Section::TransactionLongChunks,
    long_records: Section::TransactionLongRecords,
    next_long_chunk: header::NEXT_TRANSACTION_LONG_CHUNK,
    long_lost: Lost::TransactionHistoryLongRows,
    current: Consumer::EventsTransactionsCurrent,
    history: Consumer::EventsTransactionsHistory,
    history_long: Consumer::EventsTransactionsHistoryLong,
    epochs: slot::word::TRANSACTION_EPOCHS,
    has_more: true,
};

/// All of them.
pub(crate) const STORES: [&EventStore; 4] = [&WAITS, &STAGES, &STATEMENTS, &TRANSACTIONS];
