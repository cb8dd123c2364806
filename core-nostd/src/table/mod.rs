//! What a table is: one declaration, from which typed rows, SQL types, rendering and documentation come.
//!
//! A row type is made with `row!`, one line a column: SQL name, Rust name, Rust type; the type gives SQL type and nullability.
//! A table is a value of a type that implements [`TableSource`]; everything that works on any table takes a [`Table`].
//!
//! ```
//! # use perfschema_core::{Config, Identity, InstrumentName, Region, Setting, StaticRegion};
//! use perfschema_core::{table::Value, tables};
//! # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
//! # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &perfschema_core::timer::Timers::calibrate())?;
//! # region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::OFF)?;
//! // Typed:
//! region.scan(&tables::SetupInstruments, |row| assert_eq!(row.name, "wait/synch/mutex/app/LOCK_open"));
//! // Any table:
//! for table in tables::ALL {
//!     table.scan(&region, &mut |row| assert!(row.cell(0) != Value::Null));
//! }
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod cell;
mod error;

pub use cell::{Cell, NestingEventType, SqlType, Value, YesNo};
pub(crate) use cell::{enum_index, unsigned};
pub use error::TableError;

use crate::pool::Look;
use crate::region::Region;

/// The schema that tables belong to unless they say otherwise.
pub const SCHEMA: &str = "performance_schema";

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name in SQL.
    pub name: &'static str,
    /// Its type in SQL.
    pub sql_type: SqlType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// What a row gets there that is inserted without a value for it; None is NULL where it can be, and otherwise that it is to be given one.
    pub default: Option<&'static str>,
    /// Whether letter case counts where it is compared, as in MySQL's columns with a binary collation.
    pub is_binary: bool,
    /// What it says.
    pub doc: &'static str,
}

/// What may be done with a table besides SELECT; anything else is refused as MySQL refuses it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rights {
    /// TRUNCATE.
    pub truncate: bool,
    /// UPDATE of these columns.
    pub update: &'static [&'static str],
    /// INSERT and DELETE.
    pub insert_delete: bool,
}

impl Rights {
    /// SELECT only.
    pub const SELECT: Rights = Rights { truncate: false, update: &[], insert_delete: false };
    /// SELECT and TRUNCATE.
    pub const TRUNCATE: Rights = Rights { truncate: true, ..Rights::SELECT };

    pub(crate) const fn update_of(columns: &'static [&'static str]) -> Rights {
        Rights { update: columns, ..Rights::SELECT }
    }
}

/// A table as declared: once.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// Its name in its schema.
    pub name: &'static str,
    /// What its rows are.
    pub doc: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
    /// Those by which its rows are told apart, MySQL 8's PRIMARY KEY; none where there is none.
    pub primary_key: &'static [&'static str],
    /// What may be done with it.
    pub rights: Rights,
}

impl Declaration {
    /// The index of a column, in any letter case.
    ///
    /// # Errors
    /// [`TableError::UnknownColumn`].
    ///
    /// ```
    /// use perfschema_core::{table::TableSource, tables};
    /// let table = tables::SetupConsumers::DECLARATION;
    /// assert_eq!(table.column("enabled")?, 1);
    /// assert_eq!(table.columns[1].sql_type.to_string(), "enum('YES','NO')");
    /// assert_eq!(table.column("colour").unwrap_err().to_string(), "Unknown column 'colour' in 'field list'");
    /// # Ok::<(), perfschema_core::table::TableError>(())
    /// ```
    pub fn column(&self, name: &str) -> Result<usize, TableError> {
        self.columns
            .iter()
            .position(|column| column.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| TableError::UnknownColumn { column: name.into() })
    }
}

/// A row of any table.
///
/// ```
/// # use perfschema_core::*;
/// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
/// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
/// use perfschema_core::table::{Row, Value};
/// region.scan(&tables::SetupConsumers, |row| {
///     assert_eq!(row.cell(0), Value::Text(row.name));
///     assert_eq!(row.cell(2), Value::Null, "there are two columns");
/// });
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub trait Row {
    /// The value of a column, those that are invisible after the others; NULL for an index beyond the last.
    fn cell(&self, column: usize) -> Value<'_>;

    /// Columns that are shown only where they are named, as MySQL's INVISIBLE ones.
    fn invisible() -> &'static [Column]
    where
        Self: Sized,
    {
        &[]
    }
}

/// What a reader met: `rows + free + skipped + changed = places`, always.
///
/// `places` is known from the sizes of the region before the first one is looked at; the other four count what became of each.
///
/// ```
/// # use perfschema_core::*;
/// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
/// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
/// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
/// # region.create_instance(class, 0x1000);
/// let found = region.scan(&tables::MutexInstances, |row| assert_eq!(row.name, "wait/synch/mutex/app/LOCK_open"));
/// assert_eq!((found.places, found.rows, found.free), (4, 1, 3));
/// assert_eq!((found.skipped, found.changed), (0, 0), "nobody was at work");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// Places that can hold a row of the table.
    pub places: u64,
    /// Rows delivered.
    pub rows: u64,
    /// Places that hold no row of this table.
    pub free: u64,
    /// Places of an actor that came or went meanwhile.
    pub skipped: u64,
    /// Places overwritten while they were read.
    pub changed: u64,
    /// Records that were taken out of the cache of a thread at work.
    disturbed: usize,
}

/// How long a reader pauses for each record that it took away from a thread at work: the time in which that thread records some ten
/// events for each that it loses by the reader.
const PAUSE: usize = if cfg!(any(perfschema_loom, miri)) { 1 } else { 192 };

/// For so many records it pauses at most: those of all threads that can be at work, where not all is made up, as in a damaged region.
const MOST_PAUSES: usize = 256;

impl Sweep {
    /// Nothing yet, of so many places.
    pub(crate) fn of(places: usize) -> Sweep {
        Sweep { places: places as u64, ..Sweep::default() }
    }

    /// Delivers what is met in the places of a pool, a row each.
    pub(crate) fn over<'r, P, T>(places: &'r [P], look: impl Fn(&'r P) -> Look<T>, mut each: impl FnMut(T)) -> Sweep {
        let mut sweep = Sweep::of(places.len());
        for place in places {
            match look(place) {
                Look::Live(found) => {
                    each(found);
                    sweep.row();
                }
                Look::Free => sweep.free(1),
                Look::Changed => sweep.changed(),
            }
        }
        sweep
    }

    pub(crate) fn row(&mut self) {
        self.rows += 1;
    }

    /// A row, of a place that was counted as one without.
    pub(crate) fn row_after_all(&mut self) {
        let counted = if self.changed > 0 { &mut self.changed } else { &mut self.free };
        *counted = counted.saturating_sub(1);
        self.rows += 1;
    }

    /// So many of the rows are none of this table.
    pub(crate) fn leave_out(&mut self, rows: usize) {
        self.rows = self.rows.saturating_sub(rows as u64);
        self.free(rows);
    }

    pub(crate) fn free(&mut self, places: usize) {
        self.free += places as u64;
    }

    pub(crate) fn skipped(&mut self, places: usize) {
        self.skipped += places as u64;
    }

    pub(crate) fn changed(&mut self) {
        self.changed += 1;
    }

    pub(crate) fn disturbed(&mut self, records: usize) {
        self.disturbed += records;
    }

    /// Who polls a table as fast as it may would otherwise slow the threads at work several times. They are at most as many as there are
    /// processors, so whoever reads a large table hardly notices.
    fn pause(self) -> Sweep {
        (0..self.spins()).for_each(|_| crate::spin_loop());
        self
    }

    fn spins(self) -> usize {
        self.disturbed.min(MOST_PAUSES) * PAUSE
    }

    /// Counts what another sweep met, too.
    pub(crate) fn add(&mut self, other: Sweep) {
        self.places += other.places;
        self.rows += other.rows;
        self.free += other.free;
        self.skipped += other.skipped;
        self.changed += other.changed;
        self.disturbed += other.disturbed;
    }
}

/// How many rows an UPDATE found, and how many were different afterwards: MySQL reports both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// Rows that the condition chose.
    pub matched: u64,
    /// Rows whose values changed.
    pub changed: u64,
}

/// The new values of an UPDATE or INSERT: column names, in any letter case, and values.
pub type Assignments<'a> = &'a [(&'a str, Value<'a>)];

/// A table, with the type of its rows. What it does not allow is left out; the default refuses it as MySQL does.
///
/// ```
/// # use perfschema_core::*;
/// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
/// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &timer::Timers::calibrate())?;
/// use perfschema_core::table::{Row, TableSource};
/// /// The first column of all rows, whatever the table.
/// fn first_column<T: TableSource>(region: &Region<'_>, table: &T) -> Vec<String> {
///     let mut values = Vec::new();
///     region.scan(table, |row| values.push(row.cell(0).to_string()));
///     values
/// }
/// assert_eq!(first_column(&region, &tables::SetupTimers), ["idle", "wait", "stage", "statement", "transaction"]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub trait TableSource: Sync {
    /// A row.
    type Row: Row;
    /// The schema that it belongs to.
    const SCHEMA: &'static str = SCHEMA;
    /// The declaration.
    const DECLARATION: Declaration;

    /// Delivers the rows as they are now, each of them whole. Without the pause of [`Region::scan`].
    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&Self::Row)) -> Sweep;

    /// TRUNCATE, for a table that has the right.
    fn truncate(&self, region: &Region<'_>) {
        let _ = region;
    }

    /// Sets the columns of one row, for a table with such columns. Says whether anything is different now.
    ///
    /// # Errors
    /// A value that the column cannot hold.
    fn update(&self, region: &Region<'_>, row: &Self::Row, new: Assignments<'_>) -> Result<bool, TableError> {
        let _ = (region, row, new);
        Ok(false)
    }

    /// Called once after the rows of an UPDATE were changed.
    fn updated(&self, region: &Region<'_>) {
        let _ = region;
    }

    /// INSERT of one row, for a table that has the right.
    ///
    /// # Errors
    /// A value that a column cannot hold, or a full table.
    fn insert(&self, region: &Region<'_>, values: Assignments<'_>) -> Result<(), TableError> {
        let _ = (region, values);
        Ok(())
    }

    /// DELETE of one row, for a table that has the right. Says whether it was there.
    fn delete(&self, region: &Region<'_>, row: &Self::Row) -> bool {
        let _ = (region, row);
        false
    }
}

impl core::fmt::Debug for dyn Table {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.declaration().name)
    }
}

/// Any table. Every [`TableSource`] is one; the rights are checked here, for all of them alike.
///
/// ```
/// # use perfschema_core::*;
/// # const SIZES: Config = Config::SMALL.with(Size::SetupActorsSize, 4);
/// # static MEMORY: StaticRegion<{ SIZES.words() }> = StaticRegion::new();
/// # let region = Region::create(MEMORY.words(), &SIZES, &Identity::default(), &timer::Timers::calibrate())?;
/// use perfschema_core::table::{Table, TableError, Updated, Value};
/// let table: &dyn Table = tables::find("setup_actors")?;
/// table.insert(&region, &[("USER", Value::Text("ada")), ("ENABLED", Value::Text("NO"))])?;
/// let updated = table.update(&region, &mut |row| row.cell(1) == Value::Text("ada"), &[("enabled", Value::Text("YES"))])?;
/// assert_eq!(updated, Updated { matched: 1, changed: 1 });
/// assert_eq!(table.delete(&region, &mut |row| row.cell(1) == Value::Text("ada"))?, 1);
/// table.truncate(&region)?;
/// assert_eq!(tables::find("threads")?.truncate(&region), Err(TableError::WrongUsage));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub trait Table: Sync {
    /// The schema that it belongs to.
    fn schema(&self) -> &'static str;

    /// The declaration.
    fn declaration(&self) -> &'static Declaration;

    /// The columns that follow those of the declaration, and are shown only where they are named.
    fn invisible(&self) -> &'static [Column];

    /// Delivers the rows as they are now, each of them whole; pauses as [`Region::scan`] does.
    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&dyn Row)) -> Sweep;

    /// TRUNCATE.
    ///
    /// # Errors
    /// [`TableError::WrongUsage`] if the table does not allow it.
    fn truncate(&self, region: &Region<'_>) -> Result<(), TableError>;

    /// UPDATE of the rows that `choose` is true for.
    ///
    /// # Errors
    /// [`TableError`]: not allowed, no such column, a value that the column cannot hold. Nothing is changed then.
    fn update(
        &self,
        region: &Region<'_>,
        choose: &mut dyn FnMut(&dyn Row) -> bool,
        new: Assignments<'_>,
    ) -> Result<Updated, TableError>;

    /// INSERT of one row; columns not named get their default.
    ///
    /// # Errors
    /// [`TableError`]: not allowed, no such column, a value that the column cannot hold, a full table.
    fn insert(&self, region: &Region<'_>, values: Assignments<'_>) -> Result<(), TableError>;

    /// DELETE of the rows that `choose` is true for. Says how many there were.
    ///
    /// # Errors
    /// [`TableError::CommandDenied`] if the table does not allow it.
    fn delete(&self, region: &Region<'_>, choose: &mut dyn FnMut(&dyn Row) -> bool) -> Result<u64, TableError>;
}

impl<T: TableSource> Table for T {
    fn schema(&self) -> &'static str {
        T::SCHEMA
    }

    fn declaration(&self) -> &'static Declaration {
        &T::DECLARATION
    }

    fn invisible(&self) -> &'static [Column] {
        T::Row::invisible()
    }

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&dyn Row)) -> Sweep {
        region.scan(self, |row| each(row))
    }

    fn truncate(&self, region: &Region<'_>) -> Result<(), TableError> {
        if !T::DECLARATION.rights.truncate {
            return Err(TableError::WrongUsage);
        }
        TableSource::truncate(self, region);
        Ok(())
    }

    fn update(
        &self,
        region: &Region<'_>,
        choose: &mut dyn FnMut(&dyn Row) -> bool,
        new: Assignments<'_>,
    ) -> Result<Updated, TableError> {
        let declaration = &T::DECLARATION;
        if declaration.rights.update.is_empty() {
            return Err(TableError::CommandDenied { command: "UPDATE", table: declaration.name });
        }
        for (name, value) in new {
            let column = &declaration.columns[declaration.column(name)?];
            if !declaration.rights.update.contains(&column.name) {
                return Err(TableError::WrongUsage);
            }
            column.check(value)?;
        }
        let mut updated = Updated::default();
        let mut result = Ok(());
        TableSource::scan(self, region, &mut |row| {
            if result.is_ok() && choose(row) {
                updated.matched += 1;
                match TableSource::update(self, region, row, new) {
                    Ok(changed) => updated.changed += u64::from(changed),
                    Err(error) => result = Err(error),
                }
            }
        });
        TableSource::updated(self, region);
        result.map(|()| updated)
    }

    fn insert(&self, region: &Region<'_>, values: Assignments<'_>) -> Result<(), TableError> {
        let declaration = &T::DECLARATION;
        if !declaration.rights.insert_delete {
            return Err(TableError::CommandDenied { command: "INSERT", table: declaration.name });
        }
        for (name, value) in values {
            declaration.columns[declaration.column(name)?].check(value)?;
        }
        TableSource::insert(self, region, values)
    }

    fn delete(&self, region: &Region<'_>, choose: &mut dyn FnMut(&dyn Row) -> bool) -> Result<u64, TableError> {
        let declaration = &T::DECLARATION;
        if !declaration.rights.insert_delete {
            return Err(TableError::CommandDenied { command: "DELETE", table: declaration.name });
        }
        let mut deleted = 0;
        TableSource::scan(self, region, &mut |row| {
            if choose(row) {
                deleted += u64::from(TableSource::delete(self, region, row));
            }
        });
        Ok(deleted)
    }
}

impl Column {
    /// Whether a row of this column may show the value: what every table promises, also about the memory of a damaged region.
    pub fn holds(&self, value: &Value<'_>) -> bool {
        match (value, self.sql_type) {
            (Value::Null, _) => self.nullable,
            (Value::Unsigned(_), SqlType::BigintUnsigned) | (Value::Signed(_), SqlType::Bigint) => true,
            (Value::Unsigned(number), SqlType::IntUnsigned) => u32::try_from(*number).is_ok(),
            (Value::Signed(number), SqlType::Int) => i32::try_from(*number).is_ok(),
            (Value::Double(number), SqlType::Double) => number.is_finite(),
            (Value::Text(text), SqlType::Varchar(length) | SqlType::Char(length)) => text.chars().count() <= length.into(),
            (Value::Text(_), SqlType::Longtext | SqlType::Json) => true,
            (Value::Text(text), SqlType::Enum(names)) => names.contains(text),
            (Value::Text(text), moment) => moment.is_moment_text(text),
            _ => false,
        }
    }

    /// Whether the column can be given the value, so that an UPDATE of several rows can be refused before it has changed one.
    ///
    /// # Errors
    /// [`TableError::NotNull`], [`TableError::Truncated`]; of a number [`TableError::OutOfRange`], [`TableError::NotANumber`].
    ///
    /// ```
    /// use perfschema_core::{table::{TableError, TableSource, Value}, tables};
    /// let enabled = tables::SetupConsumers::DECLARATION.columns[1];
    /// assert!(enabled.check(&Value::Text("no")).is_ok() && !enabled.holds(&Value::Text("no")), "a row shows NO");
    /// assert_eq!(enabled.check(&Value::Null), Err(TableError::NotNull { column: "ENABLED" }));
    /// assert!(enabled.check(&Value::Text("perhaps")).is_err());
    /// ```
    pub fn check(&self, value: &Value<'_>) -> Result<(), TableError> {
        match (value, self.sql_type) {
            (Value::Null, _) if !self.nullable => Err(TableError::NotNull { column: self.name }),
            (Value::Null, _) => Ok(()),
            (value, SqlType::Enum(names)) if cell::enum_index(value, names).is_none() => {
                Err(TableError::Truncated { column: self.name })
            }
            (value, SqlType::IntUnsigned) => cell::unsigned(value, self.name).map(drop),
            _ => Ok(()),
        }
    }
}

impl Region<'_> {
    /// Delivers the rows of a table, typed. Pauses for some ten microseconds where it has read what a thread was writing at that moment, so
    /// that a thread that is polled in a loop loses little.
    ///
    /// ```
    /// # use perfschema_core::*;
    /// # static MEMORY: StaticRegion<{ Config::SMALL.words() }> = StaticRegion::new();
    /// # let clock = timer::MockClock::new();
    /// # let region = Region::create(MEMORY.words(), &Config::SMALL, &Identity::default(), &clock.timers())?;
    /// # let class = region.register(InstrumentName::literal("wait/synch/mutex/app/LOCK_open"), Setting::ON)?;
    /// # region.enable_everything();
    /// # let actor = Actor::attach(&region, &ActorIdentity { name: "thread/app/main", ..Default::default() });
    /// # let wait = actor.begin(&clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
    /// # clock.advance(timer::TimerName::Cycle, 100);
    /// # actor.end(&clock, wait, Held::None);
    /// let (mut timed, mut waits) = (0, 0);
    /// region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| {
    ///     timed += row.sum_timer_wait;
    ///     waits += row.count_star;
    /// });
    /// assert_eq!((timed, waits), (40_000, 1));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn scan<T: TableSource>(&self, table: &T, mut each: impl FnMut(&T::Row)) -> Sweep {
        self.patience().renew();
        TableSource::scan(table, self, &mut each).pause()
    }
}

/// Declares a row type: documentation, SQL name, Rust name and type of each column.
macro_rules! row {
    (
        $(#[$meta:meta])*
        pub struct $row:ident {
            $( #[doc = $doc:literal] $sql:ident as $field:ident: $type:ty $(= $sql_type:expr)? $(; default $default:literal)?
                $(; collate $collation:ident)?, )*
            $(
                invisible,
                $( #[doc = $hidden_doc:literal] $hidden_sql:ident as $hidden:ident: $hidden_type:ty, )*
            )?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $row {
            $( #[doc = $doc] pub $field: $type, )*
            $( $( #[doc = $hidden_doc] pub $hidden: $hidden_type, )* )?
        }

        impl $row {
            /// The columns, in order.
            pub const COLUMNS: &'static [$crate::table::Column] =
                $crate::table::row!(@columns $( $doc $sql: $type $(= $sql_type)? $(; default $default)? $(; collate $collation)?, )*);
        }

        impl $crate::table::Row for $row {
            fn cell(&self, column: usize) -> $crate::table::Value<'_> {
                let mut index = 0;
                $(
                    if column == index {
                        return $crate::table::Cell::value(&self.$field);
                    }
                    index += 1;
                )*
                $( $(
                    if column == index {
                        return $crate::table::Cell::value(&self.$hidden);
                    }
                    index += 1;
                )* )?
                let _ = index;
                $crate::table::Value::Null
            }

            $(
                fn invisible() -> &'static [$crate::table::Column] {
                    $crate::table::row!(@columns $( $hidden_doc $hidden_sql: $hidden_type, )*)
                }
            )?
        }
    };
    (@columns $(
        $doc:literal $sql:ident: $type:ty $(= $sql_type:expr)? $(; default $default:literal)? $(; collate $collation:ident)?,
    )*) => {
        const {
            &[
                $( $crate::table::Column {
                    name: stringify!($sql),
                    sql_type: $crate::table::row!(@type $type $(, $sql_type)?),
                    nullable: <$type as $crate::table::Cell>::NULLABLE,
                    default: $crate::table::row!(@default $($default)?),
                    is_binary: $crate::table::row!(@collate $($collation)?),
                    doc: $doc.trim_ascii_start(),
                }, )*
            ]
        }
    };
    (@default $default:literal) => { Some($default) };
    (@default) => { None };
    (@collate binary) => { true };
    (@collate) => { false };
    (@type $type:ty, $sql_type:expr) => { $sql_type };
    (@type $type:ty) => { <$type as $crate::table::Cell>::SQL_TYPE };
}
pub(crate) use row;

/// The example of a table: what is in it while the program of `example.rs` runs. `$said` is what of that program matters, `$shown` what is
/// shown of each row, or of those that `$only` is true for.
macro_rules! example {
    ($said:literal, $table:ident, $(if $only:expr,)? $format:literal, [$($shown:expr),*], [$($row:literal),*]) => {
        concat!(
            "\n", $said, "\n",
            "```\n",
            "# use perfschema_core::tables;\n",
            "# let region = include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/src/table/example.rs\"));\n",
            "let mut rows = Vec::new();\n",
            "region.scan(&tables::", stringify!($table), ", |row| {\n",
            $( "    if ", stringify!($only), " {\n    ", )?
            "    rows.push(format!(", stringify!($format), $( ", ", stringify!($shown), )* "));\n",
            $( $crate::table::example!(@end $only), )?
            "});\n",
            "assert_eq!(rows, [\n", $( "    ", stringify!($row), ",\n", )* "]);\n",
            "# Ok::<(), Box<dyn core::error::Error>>(())\n",
            "```",
        )
    };
    (@end $only:expr) => { "    }\n" };
}
pub(crate) use example;

#[cfg(all(test, not(perfschema_loom)))]
mod tests {
    use super::*;

    /// However many records of a damaged region seem to be at work.
    #[test]
    fn a_pause_is_bounded() {
        let spins = |records| {
            let mut sweep = Sweep::of(1);
            (0..records).for_each(|_| sweep.disturbed(1000));
            sweep.spins()
        };
        assert_eq!([0, 1, 1000].map(spins), [0, MOST_PAUSES * PAUSE, MOST_PAUSES * PAUSE]);
        let mut sweep = Sweep::of(1);
        sweep.disturbed(10);
        assert_eq!(sweep.spins(), 10 * PAUSE);
    }
}
