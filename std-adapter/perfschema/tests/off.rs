//! Before the start, and while everything is off.
#![cfg(feature = "instrument")]

use perfschema::sync::{Barrier, Condvar, Mutex, Once, RwLock, mpsc};
use perfschema::{Consumer, Setting, StartError, builder, process, tables};

#[test]
fn nothing_before_the_start_and_instances_before_the_first_event() {
    static LOCK: Mutex<u32> = perfschema::mutex!("wait/synch/mutex/test/early", 0);
    static OTHER: RwLock<u32> = perfschema::rwlock!("wait/synch/rwlock/test/other", 0);
    let listener = perfschema::net::TcpListener::bind("127.0.0.1:0").unwrap();
    *LOCK.lock().unwrap() += 1;
    assert!(process().is_none());
    assert!(perfschema::thread::thread_id().is_none());

    // Wrong options leave nothing behind.
    let wrong = builder().options("performance-schema-consumer-nonsense=ON").start().unwrap_err();
    assert!(matches!(wrong, StartError::Option { .. }), "{wrong}");
    assert!(wrong.to_string().contains("nonsense"), "{wrong}");
    let wrong = builder().options("performance-schema-max-mutex-classes=99999999").start().unwrap_err();
    assert_eq!(wrong.to_string(), "performance_schema_max_mutex_classes = 99999999 is too large, expected at most 1024");
    assert!(process().is_none());
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("off-options");
    let _ = std::fs::remove_file(&file);
    let wrong = builder().options_file(&file).start().unwrap_err();
    assert_eq!(wrong.to_string(), format!("{}: {}", file.display(), std::fs::File::open(&file).unwrap_err()));
    std::fs::write(&file, "[app]\n# more than by default\nperformance-schema-max-thread-instances=many\n").unwrap();
    let wrong = builder().options_file(&file).start().unwrap_err();
    assert!(wrong.to_string().starts_with(&format!("{}: option at byte ", file.display())), "{wrong}");
    std::fs::write(&file, b"# in another encoding: \xe9\n").unwrap();
    let wrong = builder().options_file(&file).start().unwrap_err();
    assert_eq!(wrong.to_string(), format!("{}: not UTF-8, from its byte 23 on", file.display()));
    // Longer than it may be, also where that ends in the middle of a character.
    std::fs::write(&file, format!("# {}", "é".repeat(1 << 19))).unwrap();
    let wrong = builder().options_file(&file).start().unwrap_err();
    assert_eq!(wrong.to_string(), format!("{}: longer than 1 MiB", file.display()));
    #[cfg(unix)]
    {
        let wrong = builder().options_file("/dev/zero").start().unwrap_err();
        assert_eq!(wrong.to_string(), "/dev/zero: longer than 1 MiB");
    }
    let options = "[app]\nperformance-schema-max-thread-instances=11 # or 12\n  ; performance-schema-max-thread-instances=13\n\
                   performance-schema-events-waits-history-size=6\n;performance-schema-max-thread-instances=14";
    std::fs::write(&file, options).unwrap();

    // As where whoever runs the program leaves them empty.
    for variable in ["PERFSCHEMA_OPTIONS", "PERFSCHEMA_OPTIONS_FILE", "PERFSCHEMA_SHARE"] {
        // SAFETY: the only thread of this test's process that looks at the environment is this one.
        unsafe { std::env::set_var(variable, "") };
    }
    assert_eq!(builder().size_bytes(), builder().environment(false).size_bytes());
    // SAFETY: as above.
    unsafe { std::env::set_var("PERFSCHEMA_OPTIONS", "performance-schema-events-waits-history-size=7") };
    #[cfg(target_os = "linux")]
    {
        // SAFETY: as above.
        unsafe { std::env::set_var("PERFSCHEMA_SHARE", "maybe") };
        assert_eq!(builder().start().unwrap_err().to_string(), "PERFSCHEMA_SHARE is 'maybe', expected ON or OFF");
        // SAFETY: as above.
        unsafe { std::env::set_var("PERFSCHEMA_SHARE", "yes") };
    }
    // SAFETY: as above.
    unsafe { std::env::set_var("PERFSCHEMA_OPTIONS_FILE", &file) };
    assert!(builder().size_bytes().unwrap() < builder().environment(false).size_bytes().unwrap());
    let process = builder().options("performance-schema-instrument='%/rwlock/%=COUNTED'").start().unwrap();
    let region = process.region();
    // The file, and then what is more of it in the other variable.
    assert_eq!(region.config().get(perfschema::Size::MaxThreadInstances), 11);
    assert_eq!(region.config().get(perfschema::Size::EventsWaitsHistorySize), 7);
    assert_eq!(region.size_bytes(), builder().size_bytes().unwrap());
    assert_eq!(builder().start().unwrap_err(), StartError::AlreadyStarted);
    #[cfg(target_os = "linux")]
    std::fs::remove_file(process.shared_file().unwrap().unwrap()).unwrap();

    // Off, a lock makes itself known and records nothing.
    *LOCK.lock().unwrap() += 1;
    *OTHER.write().unwrap() += 1;
    let mut settings = Vec::new();
    region.scan(&tables::SetupInstruments, |row| settings.push((row.name, row.enabled, row.timed)));
    // And `idle`, which is always there.
    assert_eq!(settings.len(), 3);
    let mut known = 0;
    region.scan(&tables::MutexInstances, |_| known += 1);
    region.scan(&tables::RwlockInstances, |_| known += 1);
    assert_eq!(known, 2);
    let count = || {
        let mut count = 0;
        region.scan(&tables::EventsWaitsSummaryGlobalByEventName, |row| count += row.count_star);
        count
    };
    assert_eq!(count(), 0);

    // The consumer that everything depends on, and the instrument that was switched on by its pattern.
    region.set_consumer(Consumer::GlobalInstrumentation, true);
    *LOCK.lock().unwrap() += 1;
    *OTHER.write().unwrap() += 1;
    assert_eq!(count(), 1);
    let class = region.find_class("wait/synch/mutex/test/early").unwrap();
    region.set_setting(class, Setting::ON);
    *LOCK.lock().unwrap() += 1;
    assert_eq!(count(), 2);
    assert_eq!(*LOCK.lock().unwrap(), 4);

    // A socket from before has no row, a clone of it is one that has come since.
    let clone = listener.try_clone().unwrap();
    let mut rows = Vec::new();
    region.scan(&tables::SocketInstances, |row| rows.push((row.ip.to_string(), row.port)));
    assert_eq!(rows, [("127.0.0.1".to_string(), i32::from(clone.local_addr().unwrap().port()))]);
}

/// The names of the macros are looked at when they are compiled, also in a `const`, which cannot look at an instrument.
#[test]
fn an_instrument_of_another_kind_is_refused() {
    use perfschema::{Instrument, alloc::Memory, fs::Fs, net::Net};
    const FILES: Fs = perfschema::fs!("wait/io/file/test/kind");
    const SOCKETS: Net = perfschema::net!("wait/io/socket/test/kind", "wait/io/socket/test/accepted");
    const CACHE: Memory = perfschema::memory!("memory/test/kind");
    let _ = (FILES, SOCKETS, CACHE);
    static FILE: Instrument = Instrument::new("wait/io/file/test/other");
    static SOCKET: Instrument = Instrument::new("wait/io/socket/test/other");
    static MEMORY: Instrument = Instrument::new("memory/test/other");
    let _ = (Fs::with_instrument(&FILE), Net::with_instruments(&SOCKET, &SOCKET), Memory::with_instrument(&MEMORY));
    static MUTEX: Instrument = Instrument::new("wait/synch/mutex/test/other");
    static RWLOCK: Instrument = Instrument::new("wait/synch/rwlock/test/other");
    static COND: Instrument = Instrument::new("wait/synch/cond/test/other");
    // A family of its own may be of any locks.
    static SYNCH: Instrument = Instrument::new("wait/synch/family/test/other");
    let _ = (Mutex::with_instrument(&SYNCH, 0), RwLock::with_instrument(&SYNCH, 0), Condvar::with_instrument(&SYNCH));
    let refused: [fn(); 12] = [
        || _ = Fs::with_instrument(&SOCKET),
        || _ = Net::with_instrument(&FILE),
        || _ = Net::with_instruments(&SOCKET, &MEMORY),
        || _ = Memory::with_instrument(&FILE),
        || _ = Mutex::with_instrument(&RWLOCK, 0),
        || _ = RwLock::with_instrument(&MUTEX, 0),
        || _ = Condvar::with_instrument(&MUTEX),
        || _ = Once::with_instrument(&COND),
        || _ = Barrier::with_instrument(&MUTEX, 1),
        || _ = mpsc::channel_with_instrument::<u8>(&MUTEX),
        || _ = mpsc::sync_channel_with_instrument::<u8>(&FILE, 1),
        || _ = Mutex::with_instrument(&MEMORY, 0),
    ];
    for make in refused {
        let panic = std::panic::catch_unwind(make).expect_err("another kind");
        assert!(panic.downcast_ref::<&str>().is_some_and(|why| why.starts_with("an instrument of")));
    }
    #[cfg(feature = "tokio")]
    {
        use perfschema::tokio::sync;
        let refused: [fn(); 7] = [
            || _ = sync::Mutex::with_instrument(&RWLOCK, 0),
            || _ = sync::RwLock::with_instrument(&MUTEX, 0),
            || _ = sync::Semaphore::with_instrument(&MUTEX, 1),
            || _ = sync::Barrier::with_instrument(&COND, 1),
            || _ = sync::Notify::with_instrument(&MUTEX),
            || _ = sync::mpsc::channel_with_instrument::<u8>(&MUTEX, 1),
            || _ = sync::mpsc::unbounded_channel_with_instrument::<u8>(&COND),
        ];
        refused.into_iter().for_each(|make| assert!(std::panic::catch_unwind(make).is_err()));
    }
}

/// As std's own macros do.
#[test]
fn macros_take_a_comma_at_the_end() {
    let _ = (
        perfschema::mutex!("wait/synch/mutex/test/comma", 0,),
        perfschema::rwlock!("wait/synch/rwlock/test/comma", 0,),
        perfschema::condvar!("wait/synch/cond/test/comma",),
        perfschema::once!("wait/synch/once/test/comma",),
        perfschema::fs!("wait/io/file/test/comma",),
        perfschema::net!("wait/io/socket/test/comma",),
        perfschema::net!("wait/io/socket/test/comma", "wait/io/socket/test/accepted",),
        perfschema::memory!("memory/test/comma",),
        perfschema::allocator!("memory/test/comma",),
        perfschema::allocator!("memory/test/comma", std::alloc::System,),
        perfschema::stage!("stage/test/comma",),
        perfschema::statement!("statement/test/comma",),
        perfschema::wait!("wait/test/comma",),
    );
}
