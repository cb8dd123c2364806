//! Words that are not a region, or a damaged one: an error that says what is wrong, never a panic. `fuzz/src/region.rs` tries the rest.

mod common;

use common::{CONFIG, MUTEX, World, words};
use perfschema_core::metric::UnknownMonitor;
use perfschema_core::options::parse_option;
use perfschema_core::timer::MockClock;
use perfschema_core::{
    Config, ConfigError, Identity, InstanceId, InstrumentKind, InstrumentName, Now, Region, RegionError, RegisterError, Setting,
    Size, StatementStart, Word, copy_from_bytes, tables, zero,
};

fn set(words: &[Word], at: usize, value: u64) {
    copy_from_bytes(&value.to_ne_bytes(), &words[at..=at]).unwrap();
}

fn region_words(config: &Config) -> Vec<Word> {
    let words = words(config.words());
    Region::create(&words, config, &Identity::default(), &MockClock::new().timers()).unwrap();
    words
}

/// The words of the header, by their place: the drawing in `region/mod.rs`.
const MAGIC: usize = 0;
const VERSION: usize = 1;
const TOTAL: usize = 2;
const READY: usize = 3;
const DIRECTORY: usize = 64;
const SECTIONS: usize = 58;

#[test]
fn what_is_wrong_is_said() {
    let magic = u64::from_le_bytes(*b"PERFSCHM");
    assert_eq!(Region::open(&[]).unwrap_err(), RegionError::NotARegion { found: 0 });
    assert_eq!(Region::open(&words(10_000)).unwrap_err(), RegionError::NotARegion { found: 0 });
    let short = words(3);
    set(&short, MAGIC, magic);
    assert!(matches!(Region::open(&short), Err(RegionError::TooSmall { words: 3, .. })));
    let damaged = |at, value| {
        let words = region_words(&CONFIG);
        set(&words, at, value);
        Region::open(&words).map(|_| ()).unwrap_err()
    };
    assert_eq!(damaged(MAGIC, 17), RegionError::NotARegion { found: 17 });
    assert_eq!(Region::open(&[Word::new(magic.swap_bytes())]).unwrap_err(), RegionError::OtherByteOrder);
    assert!(matches!(damaged(VERSION, 99), RegionError::LayoutVersion { found: 99, .. }));
    for total in [0, 1, 64, u64::MAX, u64::MAX - 7, CONFIG.words() as u64 - 8, CONFIG.words() as u64 + 8] {
        assert!(matches!(damaged(TOTAL, total), RegionError::TooSmall { .. }), "{total} words");
    }
    let needed = DIRECTORY + 4 * SECTIONS;
    assert_eq!(damaged(TOTAL, 1), RegionError::TooSmall { words: 1, needed });
    for ready in [0, 2, u64::MAX] {
        assert_eq!(damaged(READY, ready), RegionError::NotReady);
    }
    for at in (DIRECTORY..DIRECTORY + 4 * SECTIONS).step_by(if cfg!(miri) { 31 } else { 1 }) {
        for value in [u64::MAX, 1 << 63, 1 << 32, 1 << 31, 12_345] {
            assert!(
                matches!(damaged(at, value), RegionError::Section { .. } | RegionError::TooSmall { .. }),
                "word {at}, {value}"
            );
        }
    }
}

/// A size that is less than it was, and one that is more.
#[test]
fn sizes_that_do_not_agree_with_the_total() {
    let damaged = |value| {
        let words = region_words(&CONFIG);
        // Sections start on a line of 8 words.
        let threads = (DIRECTORY + 4 * SECTIONS).next_multiple_of(8) + Size::MaxThreadInstances as usize;
        set(&words, threads, value);
        Region::open(&words).unwrap_err().to_string()
    };
    assert_eq!(damaged(1), "damaged region: section 2 holds sizes of a smaller region");
    assert!(damaged(1000).contains("words are too few for a region"), "{}", damaged(1000));
}

#[test]
fn a_region_cut_short_is_refused() {
    let config = Config::SMALL;
    let words = region_words(&config);
    let step = if cfg!(miri) { 997 } else { 1 };
    for len in (0..words.len()).step_by(step) {
        assert!(Region::open(&words[..len]).is_err(), "{len} of {} words", words.len());
    }
    assert!(Region::open(&words).is_ok());
}

/// Sizes that take more words than an address has room for, on a machine of 32 bits: not a small region by overflow.
#[test]
fn sizes_that_overflow_are_refused() {
    let words = region_words(&CONFIG);
    // Sections start on a line of 8 words.
    let sizes = (DIRECTORY + 4 * SECTIONS).next_multiple_of(8);
    for at in (sizes..sizes + Size::COUNT).step_by(if cfg!(miri) { 20 } else { 1 }) {
        for value in [1 << 10, 1 << 15, 1 << 16, 1 << 20, 1 << 32, u64::MAX] {
            let words = region_words(&CONFIG);
            set(&words, at, value);
            let error = Region::open(&words).unwrap_err();
            assert!(matches!(error, RegionError::TooSmall { .. } | RegionError::Section { .. }), "{error}");
        }
    }
    // All of them at their limit.
    let mut largest = Config::EMPTY;
    for &size in Size::ALL {
        if let Err(perfschema_core::ConfigError::TooLarge { limit, .. }) = largest.try_set(size, u64::MAX) {
            largest.try_set(size, limit.into()).unwrap();
        }
    }
    for (at, &size) in (sizes..).zip(Size::ALL) {
        set(&words, at, largest.get(size).into());
    }
    let error = Region::open(&words).unwrap_err();
    assert!(matches!(error, RegionError::TooSmall { .. }), "{error}");
    let error = Region::create(&words[..8], &largest, &Identity::default(), &MockClock::new().timers()).unwrap_err();
    assert!(matches!(error, RegionError::TooSmall { words: 8, .. }));
}

#[test]
fn one_memory_is_one_region() {
    let words = region_words(&CONFIG);
    let again = Region::create(&words, &CONFIG, &Identity::default(), &MockClock::new().timers());
    assert_eq!(again.unwrap_err(), RegionError::InUse);
    let short = Region::create(&words[1..], &CONFIG, &Identity::default(), &MockClock::new().timers());
    assert!(matches!(short, Err(RegionError::TooSmall { .. })));
}

#[test]
fn bytes_are_copied_as_far_as_they_go() {
    let to = words(2);
    assert_eq!(copy_from_bytes(&[0; 24], &to), Err(RegionError::TooSmall { words: 2, needed: 3 }));
    assert_eq!(copy_from_bytes(&[0xff; 23], &to), Ok(()));
    assert_eq!(Region::open(&to).unwrap_err(), RegionError::NotARegion { found: u64::MAX });
}

/// A dump holds much that only begins like a region, and is of a machine of either byte order.
#[test]
fn a_region_is_found_in_a_dump() {
    let bytes = common::bytes_of(&region_words(&CONFIG));
    let turned: Vec<u8> = bytes.chunks(8).flat_map(|word| word.iter().rev()).copied().collect();
    let mut other_version = bytes.clone();
    other_version[8 * VERSION] += 1;
    // The magic alone.
    let nothing = |region: &[u8]| [&region[..8], &[0; 64]].concat();
    let dump_of = |parts: &[&[u8]]| {
        let bytes = parts.concat();
        let dump = words(bytes.len() / 8);
        copy_from_bytes(&bytes, &dump).unwrap();
        dump
    };
    let config_of = |parts: &[&[u8]]| Region::find(&dump_of(parts)).map(|region| region.config());
    for whole in [&bytes, &turned] {
        assert_eq!(config_of(&[&[5; 16], &nothing(&bytes), &nothing(&turned), &other_version, whole, &[5; 8]]), Ok(CONFIG));
        // Nothing is taken for a region that is not all there, nor is anything of it changed.
        let parts: &[&[u8]] = &[&[5; 8], &whole[..whole.len() - 8]];
        let cut = dump_of(parts);
        assert!(matches!(Region::find(&cut), Err(RegionError::TooSmall { .. })), "{:?}", Region::find(&cut));
        assert_eq!(common::bytes_of(&cut), parts.concat());
    }
    // What begins like one of the other byte order, and says that it ends within the next one, leaves that alone.
    let mut begins_only = turned[..8 * 64].to_vec();
    begins_only[8 * VERSION + 7] += 1;
    begins_only[8 * TOTAL..][..8].copy_from_slice(&100_u64.swap_bytes().to_ne_bytes());
    for whole in [&bytes, &turned] {
        let dump = dump_of(&[&[5; 8], &begins_only, whole]);
        assert!(common::bytes_of(Region::find(&dump).unwrap().words()) == bytes);
    }
    let found = config_of(&[&[5; 8], &other_version]);
    assert!(matches!(found, Err(RegionError::LayoutVersion { .. })), "{found:?}");
    let fives = u64::from_ne_bytes([5; 8]);
    assert_eq!(config_of(&[&[5; 8], &nothing(&bytes)]), Err(RegionError::NotARegion { found: fives }));
    assert_eq!(config_of(&[&[5; 8], &nothing(&bytes)[..8]]), Err(RegionError::NotARegion { found: fives }));
    assert_eq!(config_of(&[]), Err(RegionError::NotARegion { found: 0 }));
}

#[test]
fn errors_read_as_sentences() {
    for error in [
        RegionError::TooSmall { words: 1, needed: 2 },
        RegionError::InUse,
        RegionError::NotARegion { found: 1 },
        RegionError::OtherByteOrder,
        RegionError::LayoutVersion { found: 2, expected: 1 },
        RegionError::NotReady,
        RegionError::Section { index: 3, problem: "is outside the region" },
    ] {
        let text = error.to_string();
        assert!(text.len() > 20 && !text.ends_with('.'), "{text}");
    }
    let full = RegisterError::Full { size: Size::MaxMutexClasses };
    assert_eq!(full.to_string(), "no room for another instrument, performance_schema_max_mutex_classes is too small");
    assert_eq!(RegisterError::OtherType.to_string(), "there is a metric of this name that has another type");
    assert!(UnknownMonitor.to_string().starts_with("no such metric; "));
    let unsupported = RegisterError::Unsupported(InstrumentKind::Socket);
    assert_eq!(unsupported.to_string(), "instruments of kind Socket are not recorded yet");
    let large = ConfigError::TooLarge { size: Size::MaxMutexClasses, value: 2000, limit: 1024 };
    assert_eq!(large.to_string(), "performance_schema_max_mutex_classes = 2000 is too large, expected at most 1024");
}

/// Each names the place, what was found there and what was expected.
#[test]
fn errors_in_options_read_as_sentences() {
    for (option, error) in [
        (
            "unicorns=ON",
            "option at byte 0: unknown option \"unicorns\"; expected performance-schema, performance-schema-instrument, \
             performance-schema-consumer-NAME, performance-schema-SIZE, innodb-monitor-enable or innodb-monitor-disable",
        ),
        (
            " performance-schema-max-mutex-classes",
            "option at byte 37: \"performance-schema-max-mutex-classes\" has no value; \
             expected performance-schema-max-mutex-classes=VALUE",
        ),
        ("performance-schema=perhaps", "option at byte 19: bad value \"perhaps\"; expected ON or OFF"),
        ("performance-schema-instrument==ON", "option at byte 30: no instrument pattern; expected PATTERN=ON"),
        (
            "performance-schema-instrument=wait/%",
            "option at byte 36: no setting for the instruments \"wait/%\"; expected PATTERN=ON, =OFF or =COUNTED",
        ),
        (
            "performance-schema-instrument=wait/%=loud",
            "option at byte 37: bad instrument setting \"loud\"; expected ON, OFF or COUNTED",
        ),
        (
            "performance-schema-max-mutex-classes=many",
            "option at byte 37: bad size \"many\"; expected a whole number such as 200 or 4K, or -1",
        ),
        (
            "performance-schema-max-mutex-classes=18446744073709551616",
            "option at byte 37: size \"18446744073709551616\" is too large; expected below 2^64",
        ),
        (
            "performance-schema-instrument='wait/%=ON",
            "option at byte 30: open quote; expected the same quote before the line ends",
        ),
        (
            "performance-schema-instrument='wait/%=ON'x",
            "option at byte 41: \"x\" after the closing quote; expected ';' or the end of the line",
        ),
    ] {
        assert_eq!(parse_option(option).unwrap_err().to_string(), error, "{option}");
    }
}

#[test]
#[should_panic(expected = "instrument name: unknown class")]
fn a_literal_that_is_no_name_panics() {
    let _ = InstrumentName::literal("mutex/app/LOCK_open");
}

/// A program that died, or a thread that was stopped, in the middle of a registration: nobody waits for it for ever.
#[test]
#[cfg_attr(miri, ignore = "takes minutes there")]
fn a_registration_stopped_half_way_holds_up_nobody() {
    let words = region_words(&CONFIG);
    let region = Region::open(&words).unwrap();
    let register = |name| region.register(InstrumentName::new(name).unwrap(), Setting::ON);
    let class = register(MUTEX).unwrap();
    let bytes = common::bytes_of(&words);
    // The class's words: state, length of the name, name. The state's lowest bits say that it is claimed (1) or published (2).
    let first = u64::from_le_bytes(MUTEX.as_bytes()[..8].try_into().unwrap());
    let name = bytes.chunks(8).position(|word| word == first.to_ne_bytes()).unwrap();
    let state = u64::from_ne_bytes(bytes[(name - 2) * 8..][..8].try_into().unwrap());
    assert_eq!(state & 3, 2);
    for (at, word) in [(name - 2, state - 1), (name - 1, 0), (name, 0), (name + 16, 0)] {
        set(&words, at, word);
    }
    // Claimed, and nothing more is there. Other names are not held up, and who comes with the same one writes it.
    assert_eq!(common::select(&region, "setup_instruments", "*"), [""; 0]);
    assert_ne!(register(common::OTHER).unwrap(), class);
    assert_eq!(common::select(&region, "setup_instruments", "NAME"), [common::OTHER]);
    assert_eq!(register(MUTEX), Ok(class));
    assert_eq!(region.setting(class), Setting::ON);
    assert_eq!(common::select(&region, "setup_instruments", "NAME"), [MUTEX, common::OTHER]);
}

#[test]
fn a_number_that_is_no_instance_is_none_or_some_instance() {
    let world = World::on(&CONFIG);
    let class = world.class(MUTEX);
    let id = world.region.create_instance(class, 1).unwrap();
    assert_eq!(InstanceId::from_bits(id.to_bits()), id);
    for bits in
        (0..u32::MAX).step_by(if cfg!(miri) { 100_000_007 } else { 65_537 }).chain([1, 2, u32::MAX, u32::MAX / 8 + 1, 1 << 28])
    {
        if bits != id.to_bits() {
            world.region.destroy_instance(InstanceId::from_bits(bits));
            let _ = world.region.instance(InstanceId::from_bits(bits)).map(|instance| instance.clear_holder());
        }
    }
    world.expect("mutex_instances", "OBJECT_INSTANCE_BEGIN", &["1"]);
}

/// A reader of a region whose program died in the middle of everything: each word in turn is what a writer might have left.
#[test]
#[cfg_attr(miri, ignore = "takes minutes there")]
fn no_single_word_makes_a_reader_panic() {
    let config = CONFIG.with(Size::MaxWaitHistograms, 1).with(Size::MaxMutexClasses, 1).with(Size::MaxThreadInstances, 1);
    let world = World::on(&config);
    let (class, actor) = (world.class(MUTEX), world.actor("a"));
    world.region.create_instance(class, 1);
    for _ in 0..5 {
        world.wait(&actor, class, 1);
    }
    let _open = world.begin(&actor, class);
    let (statement, stage) = (world.class("statement/test/S"), world.class("stage/test/S"));
    let start = StatementStart { text: "text", schema: "schema", source: None };
    let _statement = actor.begin_statement(world.clock, world.region.switches(statement), &start);
    actor.begin_stage(world.clock, world.region.switches(stage), None);
    let bytes = common::bytes_of(world.region.words());
    let copy = words(config.words());
    for at in 0..copy.len() {
        for value in [0, 2, u64::MAX - 1] {
            copy_from_bytes(&bytes, &copy).unwrap();
            set(&copy, at, value);
            let Ok(region) = Region::open(&copy) else { continue };
            let region = region.as_of(Now::At(u64::MAX));
            // The histogram is long, and read by the global table anyway.
            for table in tables::ALL.iter().filter(|table| !table.declaration().name.contains("histogram")) {
                common::select(&region, table.declaration().name, "*");
            }
        }
    }
}

/// All summaries are being written, for ever, and all threads are at work on all of their records: neither is waited for each time.
#[test]
#[cfg_attr(miri, ignore = "takes minutes there")]
fn what_is_damaged_all_over_is_read_in_time() {
    const THREADS: u32 = 128;
    let config = CONFIG.with(Size::MaxThreadInstances, THREADS).with(Size::MaxMutexClasses, 1024);
    let config = config.with(Size::EventsStatementsHistorySize, 1024).with(Size::MaxSqlTextLength, 8);
    let world = World::on(&config);
    (0..1024).for_each(|n| _ = world.class(&format!("wait/synch/mutex/t/{n}")));
    let [statement, stage] = [world.class("statement/t/s"), world.class("stage/t/s")];
    for _ in 0..THREADS {
        let actor = world.actor("a");
        let start = StatementStart { text: "x", ..Default::default() };
        let _running = actor.begin_statement(world.clock, world.region.switches(statement), &start);
        actor.begin_stage(world.clock, world.region.switches(stage), None);
    }
    let words = world.region.words();
    let directory: Vec<usize> = words[DIRECTORY..][..4 * SECTIONS].iter().map(number).collect();
    for section in directory.chunks(4) {
        let [_, offset, stride, count] = section else { panic!("four words each") };
        let threads = THREADS as usize;
        match (stride, count / threads) {
            (8, 1024..) => (0..*count).for_each(|n| set(words, offset + 8 * n, 1)),
            (16, 1024..) => zero(&words[*offset..][..16 * count]),
            _ => {}
        }
    }
    let start = std::time::Instant::now();
    let region = Region::open(words).unwrap();
    for name in ["threads", "events_waits_summary_by_thread_by_event_name", "events_waits_summary_global_by_event_name"] {
        tables::find(name).unwrap().scan(&region, &mut |_| ());
    }
    assert!(start.elapsed() < std::time::Duration::from_secs(2), "{:?}", start.elapsed());
}

fn number(word: &Word) -> usize {
    let bytes = common::bytes_of(std::slice::from_ref(word));
    usize::from_ne_bytes(bytes.try_into().unwrap())
}
