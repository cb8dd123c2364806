//! What SQLite itself, and the rows of a result, may take. Both are counted for the whole process, so these tests are a process of their own.

mod common;

use common::{AN_HOUR, World, run};
use perfschema_sql::{Account, Database, Limits};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes in blocks of Rust's, as the C library has them, now and at most.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

/// With what is kept beside it, in steps of 16 bytes.
fn block(layout: Layout) -> usize {
    (layout.size() + 8).next_multiple_of(16)
}

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(block(layout), Ordering::Relaxed) + block(layout);
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(block(layout), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn sorting_takes_bounded_memory() {
    let _alone = ALONE.lock();
    let limits = Limits { time: AN_HOUR, engine_bytes: 24 << 20, ..Limits::default() };
    let mut session = Database::new(World::new().region).limits(limits).session(Account::default()).expect("there is memory");
    assert_eq!(run(&mut session, "SET cte_max_recursion_depth = 300000"), "0 changed");
    let many = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n LIMIT 300000)";
    for rest in [
        "SELECT COUNT(*), MAX(x) FROM (SELECT CONCAT(i, REPEAT('a', 500)) AS x FROM n ORDER BY x LIMIT 299999) q",
        "SELECT COUNT(DISTINCT CONCAT(i, REPEAT('a', 500))) FROM n",
        "SELECT GROUP_CONCAT(x) FROM (SELECT CONCAT(i, REPEAT('a', 500)) AS x, COUNT(*) FROM n GROUP BY x) q",
    ] {
        let error = session.execute(&format!("{many} {rest}")).map(|_| ()).expect_err(rest);
        assert!([1041, 1153].contains(&error.errno), "{rest}: {error}");
        assert_eq!(run(&mut session, "SELECT 1"), "1\n1\n");
    }
    // What fits goes on.
    assert_eq!(run(&mut session, &format!("{many} SELECT COUNT(*) FROM n")).lines().last(), Some("300000"));
    let tables: Vec<String> = (0..60).map(|index| format!("performance_schema.threads t{index}")).collect();
    assert_eq!(run(&mut session, &format!("SELECT COUNT(*) FROM {}", tables.join(", "))).lines().last(), Some("0"));
    let tables: Vec<String> = (0..90).map(|index| format!("performance_schema.threads t{index}")).collect();
    let error = run(&mut session, &format!("SELECT COUNT(*) FROM {}", tables.join(", ")));
    assert_eq!(error, "ERROR 1116 (HY000): Too many tables; MySQL can only use 61 tables in a join");
}

/// Long rows and short ones, of which the blocks take more than what is in them.
#[test]
fn a_result_takes_about_what_it_may() {
    const LIMIT: usize = 16 << 20;
    let _alone = ALONE.lock();
    let limits = Limits { time: AN_HOUR, memory_bytes: LIMIT, ..Limits::default() };
    let mut session = Database::new(World::new().region).limits(limits).session(Account::default()).expect("there is memory");
    assert_eq!(run(&mut session, "SET cte_max_recursion_depth = 1000000"), "0 changed");
    for columns in ["i", "CONCAT(i)", "i, CONCAT('name ', i), i, 'a text', NULL", "REPEAT('a', 2000)"] {
        let before = NOW.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        let many = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n LIMIT 1000000)";
        let error = session.execute(&format!("{many} SELECT {columns} FROM n")).map(|_| ()).expect_err(columns);
        let taken = MOST.load(Ordering::Relaxed) - before;
        assert!(error.errno == 1041 && (LIMIT * 3 / 4..LIMIT * 3 / 2).contains(&taken), "{columns}: {taken}: {error}");
    }
}
