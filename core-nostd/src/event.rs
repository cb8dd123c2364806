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
    /// What its records have besides, where they have more than every event.
    pub(crate) details: Option<&'static Details>,
}

impl EventStore {
    /// All words that the record of this index has besides, of the rings.
    pub(crate) fn beside_ring<'r>(&self, region: &Region<'r>, index: usize) -> impl Iterator<Item = &'r Word> + use<'r> {
        all_words(
            (self.class == EventClass::Statement).then(|| statement::Entry::of_ring(region, Sizes::of(region), index)),
            (self.class == EventClass::Transaction).then(|| transaction::Entry::of_ring(region, index)),
        )
    }

    /// The same of the long history.
    pub(crate) fn beside_long<'r>(&self, region: &Region<'r>, index: usize) -> impl Iterator<Item = &'r Word> + use<'r> {
        all_words(
            (self.class == EventClass::Statement).then(|| statement::Entry::of_long(region, Sizes::of(region), index)),
            (self.class == EventClass::Transaction).then(|| transaction::Entry::of_long(region, index)),
        )
    }
}

fn all_words<'r>(
    statement: Option<statement::Entry<'r>>,
    transaction: Option<transaction::Entry<'r>>,
) -> impl Iterator<Item = &'r Word> {
    let statement = statement.into_iter().flat_map(statement::Entry::all_words);
    statement.chain(transaction.into_iter().flat_map(transaction::Entry::all_words))
}

/// Sections whose entries belong to the records of the same index.
#[derive(Debug)]
pub(crate) struct Details {
    pub(crate) rings: Section,
    pub(crate) long: Section,
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
    details: None,
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
    details: None,
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
    details: Some(&Details { rings: Section::StatementDetails, long: Section::StatementLongDetails }),
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
    details: Some(&Details { rings: Section::TransactionDetails, long: Section::TransactionLongDetails }),
};

/// All of them.
pub(crate) const STORES: [&EventStore; 4] = [&WAITS, &STAGES, &STATEMENTS, &TRANSACTIONS];
