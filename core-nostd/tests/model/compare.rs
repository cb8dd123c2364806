//! What the tables show, beside what the model says that they are to show.

use super::*;

impl Both<'_> {
    /// Every table, row by row.
    pub(super) fn compare(&self) {
        for table in tables::ALL.iter().map(|table| table.declaration().name) {
            if let Some(mut expected) = self.model.rows(table, self.clock.clock.ticks(TimerName::Nanosecond) * 1_000) {
                expected.sort_unstable();
                assert_eq!(self.rows(table), expected, "{table}: the core, then the model");
            }
        }
        self.compare_copies();
        let mut rows = Vec::new();
        self.reader.scan(&tables::EventsWaitsHistogramByEventName, |row| rows.push(row.clone()));
        let expected = self.model.histogram_rows();
        assert_eq!(rows.len(), expected.len());
        for (row, expected) in std::iter::zip(&rows, expected) {
            let name = row.event_name.as_str();
            let counts = (row.count_bucket, row.count_bucket_and_lower);
            let row =
                (name, row.bucket_number, row.bucket_timer_low, row.bucket_timer_high, counts.0, counts.1, row.bucket_quantile);
            assert_eq!(row, expected, "a bucket of the core, then the model's");
        }
    }

    /// A table's primary key tells its rows apart. (Not an address: here several objects are given the same. And of
    /// buckets there are very many.)
    pub(super) fn keys_are_unique(&self) {
        let with_key = |table: &&&dyn Table| {
            !matches!(table.declaration().primary_key, [] | ["OBJECT_INSTANCE_BEGIN"] | [_, "BUCKET_NUMBER"])
        };
        for table in tables::ALL.iter().filter(with_key) {
            let Declaration { name, primary_key, .. } = table.declaration();
            let key: Vec<usize> = primary_key.iter().map(|column| table.declaration().column(column).unwrap()).collect();
            let mut seen = HashSet::new();
            table.scan(self.reader, &mut |row| {
                let values: Vec<String> = key.iter().map(|column| row.cell(*column).to_string()).collect();
                assert!(seen.insert(values.clone()), "{name}: twice {values:?}");
            });
        }
    }

    /// Every wait that the tables show is among the copies, and decodes to the same row.
    pub(super) fn compare_copies(&self) {
        let mut copies = vec![WaitCopy::default(); self.reader.wait_places()];
        let sweep = self.reader.copy_waits(&mut copies);
        assert_eq!((sweep.rows + sweep.free, sweep.skipped, sweep.changed), (sweep.places, 0, 0));
        assert_eq!(sweep.places, copies.len() as u64);
        let columns = EventsWaitsRow::COLUMNS;
        let copied: Vec<String> = copies[..sweep.rows as usize]
            .iter()
            .filter_map(|copy| Some(cells(&copy.row(self.reader)?, columns, |_, value| value.to_string())))
            .collect();
        for table in ["events_waits_current", "events_waits_history"] {
            for row in self.rows(table) {
                assert!(copied.contains(&row), "{row} of {table} is not in {copied:?}");
            }
        }
        // With less room, the first of them.
        let mut half = vec![WaitCopy::default(); sweep.rows as usize / 2];
        let less = self.reader.copy_waits(&mut half);
        assert_eq!(less.rows, half.len() as u64);
        assert_eq!(less.rows + less.free + less.skipped, less.places);
        let rows = |copies: &[WaitCopy]| -> Vec<Option<String>> {
            copies.iter().map(|copy| Some(cells(&copy.row(self.reader)?, columns, |_, value| value.to_string()))).collect()
        };
        assert_eq!(rows(&half), rows(&copies[..half.len()]));
    }

    /// The table's rows in the order of the alphabet. Nobody writes meanwhile: nothing is skipped.
    pub(super) fn rows(&self, table: &str) -> Vec<String> {
        let source = tables::find(table).unwrap();
        let columns = source.declaration().columns;
        let mut rows = Vec::new();
        let mut places = HashSet::new();
        let now = Now::At(self.clock.clock.ticks(TimerName::Nanosecond));
        let sweep = source.scan(&self.reader.as_of(now), &mut |row| {
            rows.push(cells(row, columns, |column, value| {
                // Where the row of a file or a socket is, the model does not know.
                let of_io = ["file_summary_by_instance", "socket_summary_by_instance", "socket_instances"].contains(&table)
                    || table == "events_waits_summary_by_instance" && row.cell(0).to_string().starts_with("wait/io/");
                if of_io && column.name == "OBJECT_INSTANCE_BEGIN" {
                    let of_socket = row.cell(0).to_string().starts_with("wait/io/socket/");
                    assert!(places.insert((of_socket, value.to_string())), "{table} shows two objects at one place");
                    return "-".into();
                }
                value.to_string()
            }));
        });
        assert_eq!((sweep.rows, sweep.skipped, sweep.changed), (rows.len() as u64, 0, 0), "{table}");
        assert_eq!(sweep.rows + sweep.free, sweep.places, "{table}");
        if let Some(places) = self.model.places(table) {
            assert_eq!(sweep.places, places, "places of {table}");
        }
        rows.sort_unstable();
        rows
    }
}
