//! `perfschema demo`, as its users run it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn demo(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfschema"));
    command.arg("demo").args(args).env_remove("PERFSCHEMA_OPTIONS").env_remove("COLUMNS");
    command.output().expect("the program was built")
}

#[track_caller]
fn succeeds(args: &[&str]) -> String {
    let output = demo(args);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{args:?}: {err}");
    out
}

#[track_caller]
fn fails(args: &[&str], expected: &str) {
    let output = demo(args);
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{args:?}");
    assert!(err.contains(expected), "{args:?}: {err}");
    assert!(output.stdout.is_empty(), "{args:?}");
}

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Files of words in several folders, and files that are not text. Words come from a small generator, always the same.
fn corpus(name: &str) -> PathBuf {
    let root = folder(name);
    let mut seed = 2360u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for file in 0..300 {
        let dir = root.join(format!("d{}/e{}", file % 7, file % 3));
        fs::create_dir_all(&dir).unwrap();
        let mut text = String::new();
        // Some files are empty, some are larger than a job.
        let words = if file % 50 == 0 { 30_000 } else { random(300) };
        for _ in 0..words {
            let number = random(5000);
            match random(4) {
                0 => text.push_str(&format!("Word{number}\n")),
                1 => text.push_str(&format!("word{}, ", number % 40)),
                2 => text.push_str(&format!("größe_{number}; ")),
                _ => text.push_str(&format!("{number:x} ")),
            }
        }
        fs::write(dir.join(format!("file{file}.txt")), text).unwrap();
    }
    fs::write(root.join("late-nul"), [vec![b'a'; 5000], vec![0]].concat()).unwrap();
    for binary in ["one.bin", "two.bin"] {
        fs::write(root.join(binary), b"\x7fELF\0 text behind a NUL").unwrap();
    }
    for skipped in [".git", "target", "d1/target"] {
        fs::create_dir_all(root.join(skipped)).unwrap();
        fs::write(root.join(skipped).join("skipped.txt"), "never seen").unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(root.join("d1"), root.join("loop")).unwrap();
    root
}

/// What the demo should count, counted in the simplest way.
#[derive(Default)]
struct Naive {
    files: u64,
    bytes: u64,
    words: u64,
    postings: u64,
    terms: HashMap<String, u64>,
}

impl Naive {
    fn count(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && entry.file_name() != ".git" && entry.file_name() != "target" {
                self.count(&entry.path());
            }
            let bytes = if kind.is_file() { fs::read(entry.path()).unwrap() } else { continue };
            if bytes.iter().take(1024).any(|&byte| byte == 0) {
                continue;
            }
            let text = String::from_utf8(bytes).unwrap().to_lowercase();
            let mut word = String::new();
            let mut words = Vec::new();
            for c in text.chars().chain([' ']) {
                if c.is_alphanumeric() {
                    word.push(c);
                } else if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            words.retain(|word| word.len() <= 64);
            self.files += 1;
            self.bytes += entry.metadata().unwrap().len();
            self.words += words.len() as u64;
            let different: HashSet<String> = words.into_iter().collect();
            self.postings += different.len() as u64;
            different.into_iter().for_each(|word| *self.terms.entry(word).or_default() += 1);
        }
    }
}

/// `1,234,567`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

#[test]
fn figures_are_those_of_a_naive_count() {
    let root = corpus("figures");
    let mut naive = Naive::default();
    naive.count(&root);
    assert_eq!(naive.files, 301);
    for threads in ["1", "7"] {
        let out = succeeds(&[root.to_str().unwrap(), "--threads", threads]);
        let mut lines = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let mut next = || lines.next().unwrap();
        let (files, words) = (grouped(naive.files), grouped(naive.words));
        let indexed = next();
        assert!(indexed.starts_with(&format!("indexed {files} files, ")), "{indexed}");
        assert!(indexed.ends_with(&format!("B, {words} words")), "{indexed}");
        assert_eq!(next(), "skipped 2 binary, 0 unreadable, 0 too large");
        let (terms, postings) = (grouped(naive.terms.len() as u64), grouped(naive.postings));
        assert_eq!(next(), format!("index {terms} different terms, {postings} postings"));
        assert!(next().contains(&format!("1 run with {threads} threads")));
    }
}

#[cfg(feature = "instrument")]
mod instrumented {
    use super::*;

    /// The tables of the output, by their name.
    fn csv(out: &str) -> HashMap<&str, Vec<HashMap<&str, &str>>> {
        let mut tables: HashMap<&str, Vec<HashMap<&str, &str>>> = HashMap::new();
        for block in out.split("\n\n") {
            let mut lines = block.lines().map(|line| line.split(',').collect::<Vec<_>>());
            let Some(heads) = lines.next() else { continue };
            for row in lines {
                assert_eq!(row.len(), heads.len());
                tables.entry(row[0]).or_default().push(heads.iter().copied().zip(row.iter().copied()).collect());
            }
        }
        tables
    }

    fn number(row: &HashMap<&str, &str>, column: &str) -> u64 {
        row[column].parse().unwrap()
    }

    #[test]
    fn report_fits_80_columns() {
        let root = corpus("report");
        let out = succeeds(&[root.to_str().unwrap(), "--threads", "4"]);
        let titles = [
            "Waits by instrument",
            "Waits by thread",
            "The longest of the last",
            "The locks that were waited for most",
            "Files by instrument",
            "The files that took longest",
            "What it cost",
        ];
        for title in titles {
            assert_eq!(out.matches(title).count(), 1, "{title}\n{out}");
        }
        assert!(out.contains("file/demo/corpus ") && out.contains("file/demo/index "), "{out}");
        for instrument in ["mutex/demo/queue ", "mutex/demo/postings ", "rwlock/demo/dictionary ", "worker-4 "] {
            assert!(out.contains(instrument), "{instrument}\n{out}");
        }
        for line in out.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(!out.contains('\u{1b}'), "not a terminal: no colours");
        assert!(!out.contains("Not recorded"), "{out}");
    }

    #[test]
    fn waits_are_as_many_as_the_work_says() {
        let root = corpus("counts");
        let threads = 3;
        let out = succeeds(&[root.to_str().unwrap(), "--threads", "3", "--format", "csv"]);
        let tables = csv(&out);
        let global = &tables["events_waits_summary_global_by_event_name"];
        let count = |name: &str| {
            let rows: Vec<_> = global.iter().filter(|row| row["EVENT_NAME"] == name).collect();
            assert_eq!(rows.len(), 1, "{name}");
            number(rows[0], "COUNT_STAR")
        };
        // A job is read from the dictionary once. Before that it is emptied, by a write; at the end its terms are counted, and written to
        // disk.
        let locks = count("wait/synch/rwlock/demo/dictionary");
        let queue = count("wait/synch/mutex/demo/queue");
        let postings = count("wait/synch/mutex/demo/postings");
        // The queue is filled once; every worker waits for the last time, or is just about to lock.
        let jobs_max = queue - 1;
        assert!(jobs_max >= 7, "each of the 6 large files is a job, and the rest");
        assert!((jobs_max - threads..=2 * jobs_max).contains(&(locks - 3)), "{locks} locks, {jobs_max} jobs");
        assert!(postings <= 48 + 16 * jobs_max, "{postings} locks of posting lists, {jobs_max} jobs");

        // What the threads counted adds up to what is counted globally.
        let by_thread = &tables["events_waits_summary_by_thread_by_event_name"];
        for row in global {
            let of_threads: u64 = by_thread
                .iter()
                .filter(|thread| thread["EVENT_NAME"] == row["EVENT_NAME"])
                .map(|thread| number(thread, "COUNT_STAR"))
                .sum();
            // Global is read first; a worker may end a wait in between.
            assert!(
                (number(row, "COUNT_STAR")..=number(row, "COUNT_STAR") + threads).contains(&of_threads),
                "{row:?} {of_threads}"
            );
        }
        let longest = &tables["events_waits_history_long"];
        assert_eq!(longest.len(), 10);
        let waits: Vec<u64> = longest.iter().map(|row| number(row, "TIMER_WAIT")).collect();
        assert!(waits.is_sorted_by(|a, b| a >= b), "{waits:?}");
        // A file that is dropped is closed by nobody's line.
        let has_source = |row: &HashMap<&str, &str>| row["SOURCE"].contains(".rs:") || row["OPERATION"] == "close";
        assert!(longest.iter().all(has_source), "{longest:?}");
        assert!(tables["events_waits_summary_by_instance"].iter().any(|row| row["EVENT_NAME"].ends_with("dictionary")));
    }

    /// Each file is opened, read to its end and closed, once; what the index takes on disk was written.
    #[test]
    fn files_are_as_many_and_as_long_as_they_are() {
        let root = corpus("files");
        let index = folder("files-index").join("it.index");
        let out = succeeds(&[root.to_str().unwrap(), "--format", "csv", "--index", index.to_str().unwrap()]);
        let tables = csv(&out);
        let sums = |name: &str| {
            let of_name = |row: &&HashMap<&str, &str>| row["EVENT_NAME"] == name;
            tables["file_summary_by_event_name"].iter().find(of_name).unwrap()
        };
        let mut naive = Naive::default();
        naive.count(&root);
        let read = sums("wait/io/file/demo/corpus");
        // Of a file that is not text the beginning; these two are no longer than that.
        let binary: u64 = ["one.bin", "two.bin"].map(|name| fs::metadata(root.join(name)).unwrap().len()).into_iter().sum();
        assert_eq!(number(read, "SUM_NUMBER_OF_BYTES_READ"), naive.bytes + binary);
        assert_eq!((number(read, "COUNT_MISC"), number(read, "COUNT_WRITE")), (2 * (naive.files + 2), 0));
        let written = sums("wait/io/file/demo/index");
        let size = fs::metadata(&index).unwrap().len();
        assert_eq!(number(written, "SUM_NUMBER_OF_BYTES_WRITE"), size);
        assert!(size > 4 * naive.postings, "{size}");
        // create, sync, rename, close.
        assert_eq!(number(written, "COUNT_MISC"), 4);
        let longest = &tables["file_summary_by_instance"];
        assert_eq!(longest.len(), 10);
        assert!(
            longest
                .iter()
                .all(|row| row["FILE_NAME"].starts_with(root.to_str().unwrap()) || Path::new(row["FILE_NAME"]) == index)
        );
    }

    #[test]
    fn json_lines_name_their_table() {
        let root = corpus("json");
        let out = succeeds(&[root.to_str().unwrap(), "--format", "json"]);
        assert!(out.lines().count() > 10);
        for line in out.lines() {
            let table = line.strip_prefix("{\"TABLE\":\"").unwrap();
            assert!((table.starts_with("events_waits_") || table.starts_with("file_summary_")) && line.ends_with('}'), "{line}");
        }
    }

    #[test]
    fn switched_off_nothing_is_recorded() {
        let root = corpus("off");
        let out = succeeds(&[root.to_str().unwrap(), "--off"]);
        assert!(out.contains("Everything is off") && !out.contains("Waits by instrument"), "{out}");
    }

    #[test]
    fn options_reach_the_performance_schema() {
        let root = corpus("options");
        let root = root.to_str().unwrap();
        let option = "performance-schema-instrument='wait/synch/mutex/%=OFF'";
        let out = succeeds(&[root, "--option", option]);
        assert!(out.contains("rwlock/demo/dictionary") && !out.contains("mutex/demo/queue"), "{out}");
        let out = succeeds(&[root, "--option", "performance-schema-max-mutex-instances=3"]);
        assert!(out.contains("mutex_instances_lost") && !out.contains("Memory by instrument"), "{out}");
        let out = succeeds(&[root, "--option", "performance-schema-instrument=memory/%=ON"]);
        let row = out.lines().skip_while(|line| *line != "Memory by instrument").find(|line| line.contains("perfschema/heap"));
        let allocations = row.and_then(|row| row.split('|').nth(2)).and_then(|count| count.trim().parse::<u64>().ok());
        assert!(allocations > Some(100), "{out}");
        fails(&[root, "--option", "performance-schema-max-unicorns=3"], "unicorns");
        fails(&[root, "--option", "performance-schema-instrument='%=MAYBE'"], "MAYBE");
    }

    #[test]
    fn runs_are_repeated() {
        let root = folder("repeated");
        fs::write(root.join("file"), "to be or not to be").unwrap();
        let out = succeeds(&[root.to_str().unwrap(), "--seconds", "1"]);
        assert!(out.starts_with("indexed   1 files, 18 B, 6 words\n"), "{out}");
        let took = out.lines().find(|line| line.starts_with("took")).unwrap();
        let runs: u64 = took.split(": ").nth(1).unwrap().split(' ').next().unwrap().replace(',', "").parse().unwrap();
        assert!(runs > 1, "{took}");
    }
}

#[cfg(not(feature = "instrument"))]
#[test]
fn without_instruments_it_says_so() {
    let root = corpus("bare");
    assert!(succeeds(&[root.to_str().unwrap()]).contains("no waits were recorded"));
}

#[test]
fn mistakes_are_named() {
    let empty = folder("empty");
    let path = empty.to_str().unwrap();
    fails(&[path], "no text files below");
    fails(&["/nowhere/at/all"], "cannot look into /nowhere/at/all");
    fails(&[env!("CARGO_BIN_EXE_perfschema")], "is not a folder");
    fs::write(empty.join("x"), b"\0").unwrap();
    fails(&[path], "(1 binary, 0 unreadable, 0 too large)");
    fails(&[path, "--threads", "0"], "--threads");
    fails(&[path, "--seconds", "0"], "expected a number of seconds above 0");
}
