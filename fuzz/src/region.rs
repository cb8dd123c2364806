//! Region bytes: whatever the words are, reading ends, panics nowhere, and shows nothing that a column forbids.

use perfschema_core::table::{SqlType, Value};
use perfschema_core::timer::{MockClock, TimerName};
use perfschema_core::{
    Actor, ActorIdentity, Config, Consumer, Held, Identity, InstanceId, InstrumentName, Operation, Region, Setting, Size,
    ThreadType, WaitStart, Word, copy_from_bytes, tables,
};

/// Room for everything, and small: most words mean something.
const CONFIG: Config = Config::EMPTY
    .with(Size::MaxMutexClasses, 2)
    .with(Size::MaxRwlockClasses, 1)
    .with(Size::MaxMutexInstances, 2)
    .with(Size::MaxRwlockInstances, 1)
    .with(Size::MaxThreadInstances, 2)
    .with(Size::EventsWaitsHistorySize, 2)
    .with(Size::EventsWaitsHistoryLongSize, 8)
    .with(Size::MaxWaitHistograms, 2)
    .with(Size::MaxSourceLocations, 2)
    .with(Size::SetupActorsSize, 2);

/// Any bytes at all, as the words of a region. So that most of them are not refused at the first word, the bytes may also stand behind
/// a header that is right.
pub fn region_bytes(data: &[u8]) {
    let words: Vec<Word> = (0..data.len() / 8).map(|_| Word::new(0)).collect();
    copy_from_bytes(data, &words).expect("there is room");
    read_if_it_opens(&words);

    let words = recorded();
    // The words that open() compares are left alone: header up to READY, directory, sizes.
    let compared = 64 + DIRECTORY_WORDS + Size::COUNT;
    let start = compared.next_multiple_of(8);
    let room = words.len() - start;
    let len = (data.len() / 8).min(room);
    copy_from_bytes(&data[..len * 8], &words[start..]).expect("there is room");
    read_if_it_opens(&words);
}

/// Words of the directory: an entry of four for each section, 24 sections.
const DIRECTORY_WORDS: usize = 24 * 4;

/// A valid region with events in it, some of whose words are then overwritten, is read; see [`mutated`]. The lowest bit of the first byte
/// says whether somebody goes on recording.
pub fn region_mutated(data: &[u8]) {
    let words = mutated(data);
    read_if_it_opens(&words);
    if data.first().is_some_and(|flags| flags & 1 != 0)
        && let Ok(region) = Region::open(&words)
    {
        record(&region, &MockClock::new(), 4);
        read_if_it_opens(&words);
    }
}

/// The words of a region in use, damaged: a byte of flags, which say how values are made, then ten bytes for each word to overwrite, its
/// position and value.
pub fn mutated(data: &[u8]) -> Vec<Word> {
    let words = recorded();
    let (flags, data) = data.split_first().unwrap_or((&0, &[]));
    for (at, value) in data.as_chunks::<10>().0.iter().map(|mutation| mutation.split_at(2)) {
        let at = usize::from(u16::from_le_bytes([at[0], at[1]])) % words.len();
        let value = u64::from_le_bytes(value.try_into().expect("eight bytes"));
        let value = match flags >> 1 & 3 {
            // Small numbers, of which most indices, states and versions are made; or all ones but a few.
            1 => value % 16,
            2 => !(value % 16),
            _ => value,
        };
        overwrite(&words[at], value);
    }
    words
}

fn overwrite(word: &Word, value: u64) {
    copy_from_bytes(&value.to_ne_bytes(), core::slice::from_ref(word)).expect("there is room");
}

/// A region in use: classes, instances, threads, one of them gone, events that run and that have ended.
fn recorded() -> Vec<Word> {
    let words: Vec<Word> = (0..CONFIG.words()).map(|_| Word::new(0)).collect();
    let clock = MockClock::new();
    let identity = Identity { pid: 1, program: "fuzz", ..Default::default() };
    let region = Region::create(&words, &CONFIG, &identity, &clock.timers()).expect("zeroed and large enough");
    for name in ["wait/synch/mutex/fuzz/a", "wait/synch/mutex/fuzz/b", "wait/synch/rwlock/fuzz/c"] {
        region.register(InstrumentName::new(name).expect("a good name"), Setting::ON).expect("there is room");
    }
    region.enable_everything();
    record(&region, &clock, 6);
    record(&region, &clock, 3);
    words
}

/// What an application does, in a region that may be damaged: nothing of it may panic.
fn record(region: &Region<'_>, clock: &MockClock, events: u64) {
    let actors = ["one", "two", "three"].map(|name| {
        Actor::attach(
            region,
            &ActorIdentity { name, user: "ada", host: "db", thread_type: ThreadType::Foreground, ..Default::default() },
        )
    });
    let ids: Vec<InstanceId> = region.classes().filter_map(|class| region.create_instance(class, 64)).collect();
    for (n, actor) in (0..events).flat_map(|n| actors.iter().map(move |actor| (n, actor))) {
        for class in region.classes() {
            let what = WaitStart {
                object: n,
                amount: n,
                source: Some(core::panic::Location::caller()),
                ..WaitStart::new(Operation::Lock)
            };
            let outer = actor.begin(clock, region.switches(class), class, &what);
            clock.advance(TimerName::Cycle, n * 1000);
            let inner = actor.begin(clock, region.switches(class), class, &what);
            let instance = ids.first().and_then(|id| region.instance(*id));
            actor.end(clock, inner, instance.as_ref().map_or(Held::None, Held::Exclusive));
            // Some stay open.
            if n % 3 != 2 {
                actor.end(clock, outer, instance.as_ref().map_or(Held::None, Held::Shared));
            }
        }
    }
    actors[0].detach();
    if let Some(id) = ids.last() {
        region.destroy_instance(*id);
    }
}

fn read_if_it_opens(words: &[Word]) {
    let Ok(region) = Region::open(words) else { return };
    read(&region);
    // Reading with the rights of an administrator.
    let texts = ["YES", "no", "TICK", "x"];
    for table in tables::ALL {
        let rights = table.declaration().rights;
        for column in rights.update {
            for text in texts {
                let _ = table.update(&region, &mut |_| true, &[(column, Value::Text(text))]);
            }
        }
        if rights.insert_delete {
            let _ = table.insert(&region, &[]);
            let mut odd = false;
            let _ = table.delete(&region, &mut |_| {
                odd = !odd;
                odd
            });
            let _ = table.insert(&region, &[(table.declaration().columns[0].name, Value::Text("db"))]);
        }
        let _ = table.truncate(&region);
    }
    region.set_consumer(Consumer::EventsWaitsHistory, false);
    region.flush_status();
    read(&region);
}

/// Every table, every cell; and the account of every read closes.
fn read(region: &Region<'_>) {
    let places = region.words().len() as u64;
    for table in tables::ALL {
        let declaration = table.declaration();
        let mut rows = 0;
        let sweep = table.scan(region, &mut |row| {
            rows += 1;
            for (index, column) in declaration.columns.iter().enumerate() {
                let value = row.cell(index);
                assert!(column.holds(&value), "{}.{} shows {value:?}", declaration.name, column.name);
                if let (Value::Text(text), SqlType::Varchar(_) | SqlType::Char(_)) = (value, column.sql_type) {
                    assert!(text.len() <= 512);
                }
            }
        });
        assert_eq!(sweep.rows, rows, "{}", declaration.name);
        assert_eq!(sweep.rows + sweep.free + sweep.skipped + sweep.changed, sweep.places, "{}", declaration.name);
        // A class may have as many rows of the histogram as there are buckets; otherwise there is a word for each row.
        assert!(sweep.places <= places * 600, "{}", declaration.name);
    }
    let _ = (region.program(), region.pid(), region.size_bytes(), region.wait_timer());
    for class in region.classes() {
        let _ = (region.class_name(class), region.summary_by_event_name(class).avg_ps());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_left_alone_are_those_that_open_compares() {
        let words = recorded();
        assert!(Region::open(&words).is_ok());
        let (mut refused, mut last) = (0, 0);
        for at in 0..words.len() {
            let damaged = recorded();
            overwrite(&damaged[at], u64::MAX);
            if Region::open(&damaged).is_err() {
                (refused, last) = (refused + 1, at);
            }
            if at > 512 {
                break;
            }
        }
        assert_eq!(last + 1, 64 + DIRECTORY_WORDS + Size::COUNT);
        assert!(refused > DIRECTORY_WORDS, "{refused}");
    }

    #[test]
    fn seeds() {
        region_bytes(&[]);
        region_bytes(b"PERFSCHM");
        region_bytes(&[0xff; 70_000]);
        region_bytes(&[0x02; 70_000]);
        region_mutated(&[]);
        region_mutated(&[1]);
    }

    /// `PERFSCHEMA_FUZZ_RUNS` asks for more.
    #[test]
    fn many_small_ones() {
        let runs = std::env::var("PERFSCHEMA_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok());
        let runs: u64 = runs.unwrap_or(if cfg!(miri) { 1 } else { 300 });
        let mut state =
            std::env::var("PERFSCHEMA_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x9e37_79b9_7f4a_7c15_u64);
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for run in 0..runs {
            let mut data = vec![next() as u8];
            for _ in 0..next() % 40 {
                data.extend_from_slice(&(next() as u16).to_le_bytes());
                data.extend_from_slice(&next().to_le_bytes());
            }
            region_mutated(&data);
            if run % 8 == 0 {
                let mask = [u64::MAX, 0x0303_0303_0303_0303, 0xf, 0x3][next() as usize % 4];
                let data: Vec<u8> = (0..CONFIG.words()).flat_map(|_| (next() & mask).to_le_bytes()).collect();
                region_bytes(&data);
            }
        }
    }
}
