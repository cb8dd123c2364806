//! The allocator beside an independent one below it, which counts too: a program, not a test harness, so that whatever is allocated in it
//! passes through both. Blocks and bytes must be equal, not nearly so.

use perfschema::alloc::{Allocator, Memory};
use perfschema::thread::{ThreadType, attach_as, thread_id};
use perfschema::{Lost, Region, Setting, Size, tables};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::RefCell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc;

/// What the independent one counts.
struct Below {
    blocks_allocated: AtomicU64,
    blocks_freed: AtomicU64,
    bytes_allocated: AtomicU64,
    bytes_freed: AtomicU64,
    bytes_used: AtomicI64,
    /// The most, since it was last set.
    bytes_high: AtomicI64,
}

static BELOW: Below = Below {
    blocks_allocated: AtomicU64::new(0),
    blocks_freed: AtomicU64::new(0),
    bytes_allocated: AtomicU64::new(0),
    bytes_freed: AtomicU64::new(0),
    bytes_used: AtomicI64::new(0),
    bytes_high: AtomicI64::new(0),
};

impl Below {
    fn came(&self, bytes: usize) {
        self.blocks_allocated.fetch_add(1, Ordering::Relaxed);
        self.bytes_allocated.fetch_add(bytes as u64, Ordering::Relaxed);
        let used = self.bytes_used.fetch_add(bytes as i64, Ordering::Relaxed) + bytes as i64;
        self.bytes_high.fetch_max(used, Ordering::Relaxed);
    }

    fn went(&self, bytes: usize) {
        self.blocks_freed.fetch_add(1, Ordering::Relaxed);
        self.bytes_freed.fetch_add(bytes as u64, Ordering::Relaxed);
        self.bytes_used.fetch_sub(bytes as i64, Ordering::Relaxed);
    }

    fn now(&self) -> Counts {
        let [blocks_allocated, blocks_freed, bytes_allocated, bytes_freed] =
            [&self.blocks_allocated, &self.blocks_freed, &self.bytes_allocated, &self.bytes_freed]
                .map(|count| count.load(Ordering::Relaxed));
        Counts { blocks_allocated, blocks_freed, bytes_allocated, bytes_freed }
    }
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BELOW.came(layout.size());
        // SAFETY: the caller's promises are those that System asks for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        BELOW.came(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BELOW.went(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if new_size == REFUSED {
            return std::ptr::null_mut();
        }
        BELOW.went(layout.size());
        BELOW.came(new_size);
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}

/// No block gets this size.
const REFUSED: usize = 12_345_678;
const HEAP: &str = "memory/test/heap";
const POOL: &str = "memory/test/pool";

#[global_allocator]
static ALLOCATOR: Allocator<Counting> = perfschema::allocator!("memory/test/heap", Counting);
static OWN_POOL: Memory = perfschema::memory!("memory/test/pool");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    blocks_allocated: u64,
    blocks_freed: u64,
    bytes_allocated: u64,
    bytes_freed: u64,
}

impl Counts {
    fn since(self, before: Counts) -> Counts {
        Counts {
            blocks_allocated: self.blocks_allocated - before.blocks_allocated,
            blocks_freed: self.blocks_freed - before.blocks_freed,
            bytes_allocated: self.bytes_allocated - before.bytes_allocated,
            bytes_freed: self.bytes_freed - before.bytes_freed,
        }
    }
}

fn global(region: &Region<'_>, name: &str) -> Option<tables::MemorySummaryGlobalByEventNameRow> {
    let mut found = None;
    region.scan(&tables::MemorySummaryGlobalByEventName, |row| {
        if row.event_name == *name {
            found = Some(row.clone());
        }
    });
    found
}

fn counts(region: &Region<'_>) -> Counts {
    let row = global(region, HEAP).expect("it has allocated");
    Counts {
        blocks_allocated: row.count_alloc,
        blocks_freed: row.count_free,
        bytes_allocated: row.sum_number_of_bytes_alloc,
        bytes_freed: row.sum_number_of_bytes_free,
    }
}

fn switch(region: &Region<'_>, setting: Setting) {
    let class = region.find_class(HEAP).expect("it has allocated");
    region.set_setting(class, setting);
}

/// Runs it with memory counted, and compares; nobody else runs. Returns what both counted.
fn compared(region: &Region<'_>, run: impl FnOnce()) -> Counts {
    let (before, seen_before) = (BELOW.now(), counts(region));
    switch(region, Setting::COUNTED);
    run();
    switch(region, Setting::OFF);
    let (after, seen_after) = (BELOW.now(), counts(region));
    assert_eq!(seen_after.since(seen_before), after.since(before), "what we counted, then what was counted below");
    after.since(before)
}

/// All ways to ask for memory.
fn allocate_in_all_ways() {
    let grown: Vec<u8> = (0..PUSHES).map(|n| n as u8).collect();
    let zeroed = vec![0_u64; 1_000];
    let mut text = String::from("abc");
    (0..PUSHES / 100).for_each(|_| text.push_str("longer and longer"));
    text.shrink_to_fit();
    drop((grown, zeroed));
    let aligned = Layout::from_size_align(100, 64).expect("a layout");
    // SAFETY: a block of that layout, used nowhere else, given back with the size that it then has.
    unsafe {
        let memory = std::alloc::alloc(aligned);
        assert!(std::alloc::realloc(memory, aligned, REFUSED).is_null(), "refused: nothing is counted");
        let memory = std::alloc::realloc(memory, aligned, 200);
        std::alloc::dealloc(memory, Layout::from_size_align_unchecked(200, 64));
    }
}

/// Allocates at its end, in a destructor of the thread.
struct Last(Vec<u8>);

impl Drop for Last {
    fn drop(&mut self) {
        allocate_in_all_ways();
        self.0 = vec![1; 77];
    }
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

const THREADS: usize = if cfg!(miri) { 3 } else { 20 };
const BOXES: usize = if cfg!(miri) { 4 } else { 2_000 };
const PUSHES: usize = if cfg!(miri) { 200 } else { 10_000 };

/// Threads one after the other and at once, more than there are slots; each frees what another one allocated.
fn threads() {
    for _ in 0..2 {
        let (first, mut from) = mpsc::channel::<Vec<Box<usize>>>();
        first.send(vec![Box::new(0); BOXES]).expect("it is listened to");
        let all: Vec<_> = (0..THREADS)
            .map(|_| {
                let (to, next) = mpsc::channel();
                let from = std::mem::replace(&mut from, next);
                std::thread::spawn(move || {
                    LAST.with(|last| *last.borrow_mut() = Some(Last(Vec::new())));
                    drop(from.recv().expect("it is sent"));
                    allocate_in_all_ways();
                    let _ = to.send((0..BOXES).map(Box::new).collect());
                })
            })
            .collect();
        drop(from.recv().expect("it is sent"));
        // To their very end.
        all.into_iter().for_each(|thread| thread.join().expect("it does not panic"));
    }
}

fn every_block_and_byte_is_counted(region: &Region<'_>) {
    // Off: not a block.
    let before = counts(region);
    allocate_in_all_ways();
    assert_eq!(counts(region), before);
    let counted = compared(region, || {
        allocate_in_all_ways();
        threads();
    });
    assert!(counted.blocks_allocated > (2 * THREADS * BOXES) as u64, "{counted:?}");
    assert_eq!(region.lost(Lost::NestedLevels), 0, "it never comes back to itself");
    if cfg!(not(miri)) {
        assert!(region.lost(Lost::ThreadInstances) > 0, "there were more threads than slots");
    }
}

/// The sum of all threads' highs is at least what there really was at one time.
fn the_marks_enclose_what_was(region: &Region<'_>) {
    let summary = tables::find("memory_summary_global_by_event_name").expect("a table");
    summary.truncate(region).expect("it can be");
    let used_before = BELOW.bytes_used.load(Ordering::Relaxed);
    BELOW.bytes_high.store(used_before, Ordering::Relaxed);
    let start = global(region, HEAP).expect("a row");
    assert_eq!(start.low_number_of_bytes_used, start.current_number_of_bytes_used);
    assert_eq!(start.high_number_of_bytes_used, start.current_number_of_bytes_used);
    let large = 3_000_000;
    compared(region, || {
        threads();
        drop(vec![1_u8; large]);
    });
    let end = global(region, HEAP).expect("a row");
    let high = BELOW.bytes_high.load(Ordering::Relaxed) - used_before;
    assert!(high >= large as i64);
    assert!(end.high_number_of_bytes_used - start.current_number_of_bytes_used >= high, "{end:?} after {start:?}: {high}");
    assert!(end.low_number_of_bytes_used <= start.current_number_of_bytes_used);
}

/// A thread's row shows what the thread itself did, from its first allocation on, under the name that it gives itself later.
fn a_thread_has_a_row(region: &'static Region<'static>) {
    switch(region, Setting::COUNTED);
    std::thread::spawn(move || {
        let kept = vec![1_u8; 100_000];
        assert!(attach_as("thread/test/keeper", ThreadType::Foreground, "ada", "db1"), "memory is no wait");
        assert!(!attach_as("thread/test/other", ThreadType::Background, "", ""), "it has said so already");
        let id = thread_id().expect("it has a row");
        switch(region, Setting::OFF);
        let mut row = None;
        region.scan(&tables::MemorySummaryByThreadByEventName, |found| {
            if found.thread_id == id && found.event_name == HEAP {
                row = Some((found.current_number_of_bytes_used, found.high_number_of_bytes_used));
            }
        });
        // It has freed a little of what the thread that started it allocated.
        assert!(row.is_some_and(|(used, high)| used >= 99_000 && high >= used), "{row:?}");
        let mut names = Vec::new();
        region.scan(&tables::Threads, |found| {
            if found.thread_id == id {
                names.push(format!("{} {} {:?}", found.name, found.thread_type, found.processlist_user));
            }
        });
        assert_eq!(names, ["thread/test/keeper FOREGROUND Some(\"ada\")"]);
        drop(kept);
    })
    .join()
    .expect("it does not panic");
}

/// What a program counts itself.
fn a_pool_of_its_own(region: &Region<'_>) {
    OWN_POOL.allocated(4096);
    let row = global(region, POOL).expect("it registers at its first use");
    assert_eq!((row.count_alloc, row.current_number_of_bytes_used), (0, 0), "it is off");
    let class = region.find_class(POOL).expect("it is there");
    region.set_setting(class, Setting::ON);
    OWN_POOL.allocated(4096);
    OWN_POOL.resized(4096, 10_000);
    OWN_POOL.allocated(1);
    OWN_POOL.freed(10_000);
    let row = global(region, POOL).expect("a row");
    assert_eq!((row.count_alloc, row.count_free, row.current_count_used, row.high_count_used), (3, 2, 1, 2));
    assert_eq!((row.current_number_of_bytes_used, row.high_number_of_bytes_used), (1, 10_001));
}

/// What only a system with processes and signals has.
#[cfg(all(target_os = "linux", not(miri), not(perfschema_sanitizer)))]
mod processes {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    extern "C" fn on_signal(_: libc::c_int) {
        // Legal only because the signal is raised where nobody allocates.
        drop(std::hint::black_box(vec![1_u8; 500]));
    }

    pub(crate) fn in_a_signal_handler(region: &Region<'_>) {
        // SAFETY: a handler of the type that is asked for; raised by this thread, outside of its allocator.
        unsafe { libc::signal(libc::SIGUSR1, on_signal as *const () as usize) };
        let counted = compared(region, || {
            for _ in 0..10 {
                // SAFETY: as above.
                unsafe { libc::raise(libc::SIGUSR1) };
            }
        });
        assert_eq!((counted.blocks_allocated, counted.bytes_freed), (10, 5_000));
    }

    /// A child begins at nothing, and counts on.
    pub(crate) fn in_a_forked_child(region: &Region<'_>) {
        switch(region, Setting::COUNTED);
        let from_parent = vec![1_u8; 1_000];
        // SAFETY: the child has one thread, which does what any thread may, and leaves without the parent's destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // Nothing is allocated from here on but this.
            let before = global(region, HEAP).map(|row| (row.count_alloc, row.count_free));
            drop(from_parent);
            let kept = std::hint::black_box(vec![1_u8; 300]);
            let row = global(region, HEAP);
            let after = row.map(|row| (row.count_alloc, row.count_free, row.current_number_of_bytes_used));
            let right = before == Some((0, 0)) && after == Some((1, 1, -700));
            drop(kept);
            // SAFETY: it only ends the process.
            unsafe { libc::_exit(i32::from(!right)) };
        }
        let mut status = 0;
        // SAFETY: a child of this process, and a place to write to.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        switch(region, Setting::OFF);
        assert_eq!(status, 0, "the child did not count as it should");
    }

    /// Holds memory until it is killed.
    pub(crate) fn victim() {
        let process = start(perfschema::builder().share(true));
        switch(process.region(), Setting::COUNTED);
        let kept: Vec<Vec<u8>> = (0..50).map(|_| Vec::with_capacity(10_000)).collect();
        println!("{}", process.shared_file().expect("it was asked for").expect("it can be").display());
        std::thread::sleep(std::time::Duration::from_secs(60));
        drop(kept);
    }

    /// What a program had when it was killed is there to be seen.
    pub(crate) fn killed() {
        let exe = std::env::current_exe().expect("it has a name");
        let mut child = Command::new(exe).arg(VICTIM).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut file = String::new();
        let read = BufReader::new(child.stdout.as_mut().expect("it was asked for")).read_line(&mut file);
        child.kill().and_then(|()| child.wait()).expect("it can be killed");
        read.expect("a line");
        let attached = perfschema::attach(file.trim_end()).expect("its memory is there");
        let row = global(attached.region(), HEAP).expect("a row");
        assert!((500_000..600_000).contains(&row.current_number_of_bytes_used), "{row:?}");
        assert!(row.count_alloc >= 51 && row.high_number_of_bytes_used >= 500_000, "{row:?}");
        let mut threads = 0;
        attached.region().scan(&tables::MemorySummaryByThreadByEventName, |row| {
            threads += i32::from(row.event_name == HEAP && row.current_number_of_bytes_used >= 500_000);
        });
        assert_eq!(threads, 1);
        std::fs::remove_file(file.trim_end()).expect("it is ours");
    }
}

#[cfg(all(target_os = "linux", not(miri), not(perfschema_sanitizer)))]
const VICTIM: &str = "victim";

/// Memory that is given back in the middle of a record is counted by an actor of its own, as a signal handler's is: there is none here.
fn what_an_event_kept_is_given_back_outside_of_its_record(region: &Region<'_>) {
    static STATEMENT: perfschema::statement::Statement = perfschema::statement!("statement/test/given");
    let ended_by_another = |drop_there: bool| {
        let mut task = std::pin::pin!(perfschema::task::attach("task/test/gives", async move {
            let mut statement = STATEMENT.begin_async("given");
            let mut transaction = perfschema::transaction::begin_async();
            // Said while another actor is at hand, which may not write where the statement is.
            let given = perfschema::thread::spawn(move || {
                statement.fail(1, "HY000", "failed");
                transaction.set_gtid("a-1");
                (!drop_there).then_some((statement, transaction))
            });
            drop(given.join().unwrap());
            drop(STATEMENT.begin_async("next"));
        }));
        assert!(task.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_ready());
    };
    switch(region, Setting::COUNTED);
    [false, true].into_iter().for_each(ended_by_another);
    region.scan(&tables::Threads, |row| assert!(!row.name.as_str().ends_with("/signal"), "{}", row.name.as_str()));
    let mut errors = 0;
    region.scan(&tables::EventsStatementsHistoryLong, |row| errors += u64::from(row.mysql_errno == Some(1)));
    // Under Miri there is no room for statements.
    assert_eq!(errors, if cfg!(miri) { 0 } else { 2 });
}

fn start(builder: perfschema::Builder) -> &'static perfschema::Process {
    // Miri takes a thousand times as long for each word of a region.
    let (pools, threads) = if cfg!(miri) { (0, 4) } else { (16, 8) };
    // Of those there is one or none.
    let sizes = Size::ALL.iter().filter(|size| **size != Size::MaxTransactionClasses);
    let builder = sizes.fold(builder, |builder, size| builder.size(*size, pools));
    let builder = builder.size(Size::MaxMemoryClasses, 2).size(Size::MaxThreadInstances, threads);
    builder.everything(true).environment(false).start().expect("it starts")
}

fn main() {
    #[cfg(all(target_os = "linux", not(miri), not(perfschema_sanitizer)))]
    if std::env::args().any(|argument| argument == VICTIM) {
        return processes::victim();
    }
    // Before there is a region, and after it failed to start, allocation is the inner one's alone.
    allocate_in_all_ways();
    perfschema::builder().options("performance-schema-max-unicorns=1").start().expect_err("there are none");
    allocate_in_all_ways();
    let region = start(perfschema::builder()).region();
    let row = global(region, HEAP).expect("an allocation has registered it");
    assert_eq!((row.count_alloc, row.count_free), (0, 0), "off unless it is switched on by name");
    every_block_and_byte_is_counted(region);
    the_marks_enclose_what_was(region);
    a_thread_has_a_row(region);
    a_pool_of_its_own(region);
    what_an_event_kept_is_given_back_outside_of_its_record(region);
    #[cfg(all(target_os = "linux", not(miri), not(perfschema_sanitizer)))]
    {
        processes::in_a_signal_handler(region);
        processes::in_a_forked_child(region);
        processes::killed();
    }
    println!("test memory ... ok, {} bytes allocated", BELOW.now().bytes_allocated);
}
