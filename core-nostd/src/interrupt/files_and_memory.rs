//! Files that several levels use, and memory that they count.

use super::*;

/// A handler opens, renames and deletes the very files that its thread is opening, renaming and deleting.
#[test]
fn files_that_an_interrupt_uses_too_at_every_step() {
    const FILES: Config = Config::EMPTY.with(Size::MaxFileClasses, 1).with(Size::MaxFileInstances, 4);
    let region = region_of(&FILES);
    let class = region.register(InstrumentName::literal("wait/io/file/test/interrupted"), Setting::ON).unwrap();
    let open = move |path: &str| {
        let id = region.refer_to_file(class, path.as_bytes()).expect("there is room for all");
        region.file_opened(id);
        id
    };
    let close = move |id| {
        region.file_closed(id);
        region.release_file(id);
    };
    let mut cases = 0_u32;
    for at in 0.. {
        let interrupt = Rc::new(move || {
            let ids = ["a", "b"].map(open);
            region.file_renamed(b"b", b"a");
            region.scan(&tables::FileInstances, |row| assert!(["a", "b"].contains(&row.file_name.as_str()), "{at}"));
            ids.into_iter().for_each(close);
            region.file_deleted(b"b");
        });
        let main = || {
            let id = open("a");
            region.file_renamed(b"a", b"b");
            region.release_file(region.refer_to_file(class, b"c").expect("there is room for all"));
            close(id);
            region.file_deleted(b"b");
        };
        let steps = interrupted(main, &[(at, interrupt)]);
        region.file_deleted(b"a");
        region.file_deleted(b"b");
        region.scan(&tables::FileInstances, |row| panic!("{} at {at}", row.file_name));
        // No place is lost, and none is left in a bucket.
        assert_eq!(region.setup()[crate::setup::word::FILES_USED].get(), 0, "at {at}");
        let linked = |word: &Word| crate::file::bucket::places(word.get()).count();
        assert_eq!(region.section(Section::FileIndex).iter().map(linked).sum::<usize>(), 0, "at {at}");
        cases += 1;
        if steps[0] <= at {
            break;
        }
    }
    assert!(cases > 200, "{cases}");
}

/// A handler counts in the file in which its thread is counting, each with an actor of its own: neither loses what the other adds.
#[test]
fn reads_of_one_file_that_an_interrupt_reads_too_at_every_step() {
    const FILES: Config =
        Config::EMPTY.with(Size::MaxFileClasses, 1).with(Size::MaxFileInstances, 1).with(Size::MaxThreadInstances, 2);
    let region = region_of(&FILES);
    let class = region.register(InstrumentName::literal("wait/io/file/test/interrupted"), Setting::ON).unwrap();
    region.enable_everything();
    let id = region.refer_to_file(class, b"file").unwrap();
    region.file_opened(id);
    let actors = [(); 2].map(|()| Rc::new(Actor::attach(region, &ActorIdentity::default())));
    let read = move |actor: &Actor<'static>| {
        let wait =
            actor.begin(&At(0), region.switches(class), class, &WaitStart { amount: 8, ..WaitStart::new(Operation::Read) });
        actor.end(&At(1), wait, Held::File(FileIo { file: region.file(id), group: Group::Read }));
    };
    let mut reads = 0;
    for at in 0.. {
        let other = Rc::clone(&actors[1]);
        let steps = interrupted(|| read(&actors[0]), &[(at, Rc::new(move || read(&other)))]);
        reads += if steps[0] > at { 2 } else { 1 };
        region.scan(&tables::FileSummaryByInstance, |row| {
            assert_eq!((row.count_read, row.sum_number_of_bytes_read), (reads, reads as i64 * 7), "at {at}");
        });
        region.scan(&tables::EventsWaitsSummaryByInstance, |row| assert_eq!(row.count_star, reads, "at {at}"));
        if steps[0] <= at {
            break;
        }
    }
    assert!(reads > 50, "{reads}");
}

/// A handler counts memory too, truncates and reads, while its thread counts and honours a truncation itself.
#[test]
fn memory_that_an_interrupt_counts_too_at_every_step() {
    const MEMORY: Config = Config::EMPTY.with(Size::MaxMemoryClasses, 1).with(Size::MaxThreadInstances, 2);
    let region = region_of(&MEMORY);
    region.enable_everything();
    let class = region.register(InstrumentName::literal("memory/test/interrupted"), Setting::COUNTED).unwrap();
    let actors = [(); 2].map(|()| Rc::new(Actor::attach(region, &ActorIdentity::default())));
    let change = move |actor: &Actor<'static>, bytes| {
        for change in [MemoryChange::allocated(bytes), MemoryChange::resized(bytes, 2 * bytes), MemoryChange::freed(2 * bytes)] {
            actor.count_memory(region.switches(class), class, change);
        }
    };
    // A row that is shown is whole: a block has the bytes that its thread gives it, once or twice.
    let whole = move |at| {
        region.scan(&tables::MemorySummaryByThreadByEventName, |row| {
            let (blocks, bytes, own) = (row.current_count_used, row.current_number_of_bytes_used, row.thread_id as i64 * 10);
            assert!(bytes == blocks * own || bytes == 2 * blocks * own, "{row:?} at {at}");
            assert_eq!(row.count_alloc.wrapping_sub(row.count_free) as i64, blocks, "{row:?} at {at}");
            assert!(row.low_number_of_bytes_used <= bytes && bytes <= row.high_number_of_bytes_used, "{row:?} at {at}");
        });
    };
    let mut cases = 0;
    for (before, meanwhile) in [(0, 1), (1, 0), (0, 0), (1, 1)] {
        let truncate = move |table: usize| {
            let tables: [&dyn crate::table::Table; 2] =
                [&tables::MemorySummaryByThreadByEventName, &tables::MemorySummaryGlobalByEventName];
            tables[table].truncate(region).expect("it can be");
        };
        for at in 0.. {
            truncate(before);
            let other = Rc::clone(&actors[1]);
            let interrupt = move || {
                change(&other, 20);
                truncate(meanwhile);
                whole(at);
            };
            let steps = interrupted(|| change(&actors[0], 10), &[(at, Rc::new(interrupt))]);
            whole(at);
            let sums = region.memory_summary_by_event_name(class);
            assert_eq!((sums.blocks.current(), sums.bytes.current()), (0, 0), "at {at}");
            // In the table that was truncated before, and not meanwhile, all is there: of both, or of the thread alone.
            if before == 1 && meanwhile == 0 {
                let blocks = if steps[0] > at { 4 } else { 2 };
                assert_eq!(
                    (sums.blocks.allocated, sums.blocks.high, sums.bytes.high),
                    (blocks, blocks as i64 / 2, if blocks == 4 { 60 } else { 20 }),
                    "at {at}"
                );
            }
            cases += 1;
            if steps[0] <= at {
                break;
            }
        }
    }
    assert!(cases > 400, "{cases}");
}
