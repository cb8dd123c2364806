//! `events_statements_summary_by_digest`: statements counted and summed by what they are like.

use super::events_statements_summary::statement_summary_row;
use crate::digest::digest_text;
use crate::metric::moment_text;
use crate::region::{DIGEST, Region, Section, Text};
use crate::statement_digest;
use crate::table::{Declaration, Rights, SqlType, Sweep, TableSource, example};

statement_summary_row! {
    /// A row of [`events_statements_summary_by_digest`](EventsStatementsSummaryByDigest). One has neither schema
    /// nor digest: the statements that found no place.
    pub struct EventsStatementsSummaryByDigestRow {
        /// What the texts' names are looked up in; NULL if the program does not say.
        SCHEMA_NAME as schema_name: Option<Text<64>>,
        /// What statements that are alike have in common, 32 hexadecimal digits.
        DIGEST as digest: Option<Text<32>>,
        /// The text of those statements, without literals and comments.
        DIGEST_TEXT as digest_text: Option<Text<1024>> = SqlType::Longtext,
        ..summary,
        /// When the first of them ended, in UTC.
        FIRST_SEEN as first_seen: Text<26> = SqlType::Timestamp(6),
        /// When the last of them ended, in UTC.
        LAST_SEEN as last_seen: Text<26> = SqlType::Timestamp(6),
    }
}

/// `events_statements_summary_by_digest`
#[doc = example!(
    "The statement `find 17` has ended:",
    EventsStatementsSummaryByDigest,
    "{} {}",
    [row.digest_text.unwrap_or_default(), row.count_star],
    ["find ? 1"]
)]
#[derive(Clone, Copy, Debug)]
pub struct EventsStatementsSummaryByDigest;

impl TableSource for EventsStatementsSummaryByDigest {
    type Row = EventsStatementsSummaryByDigestRow;
    const DECLARATION: Declaration = Declaration {
        name: "events_statements_summary_by_digest",
        doc: "Statements that are alike, of all instruments and threads, by schema and digest.",
        columns: EventsStatementsSummaryByDigestRow::COLUMNS,
        primary_key: &[],
        rights: Rights::TRUNCATE,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep {
        let count = region.arrays::<DIGEST>(Section::StatementDigests).len();
        let mut sweep = Sweep::of(count);
        for index in 0..count {
            let Some(digest) = statement_digest::read(region, index) else {
                sweep.free(1);
                continue;
            };
            each(&EventsStatementsSummaryByDigestRow::new(
                digest.name.map(|(schema, ..)| schema).filter(|schema| !schema.as_str().is_empty()),
                digest.name.map(|(_, digest, _)| digest.text()),
                digest.name.map(|(.., text)| digest_text(text.as_str())),
                &digest.summary,
                &digest.statistics,
                moment_text(digest.first_seen_us),
                moment_text(digest.last_seen_us),
            ));
            sweep.row();
        }
        sweep
    }

    fn truncate(&self, region: &Region<'_>) {
        statement_digest::reset(region);
    }
}
