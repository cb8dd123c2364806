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
        // A job is read from the dictionary once. Before that it is emptied, by a write; at the end its terms are counted, and
        // written to disk.
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
            let known = ["events_stages_", "events_waits_", "file_summary_"].iter().any(|prefix| table.starts_with(prefix));
            assert!(known && line.ends_with('}'), "{line}");
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

/// `ulimit -f` says how large a file may be, and the shared one is larger.
#[cfg(all(target_os = "linux", feature = "instrument"))]
#[test]
fn says_why_it_does_not_share() {
    let root = corpus("unshared");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 20000; exec \"$0\" demo \"$1\"", env!("CARGO_BIN_EXE_perfschema"), root.to_str().unwrap()]);
    let output = command.env("PERFSCHEMA_SHARE", "1").output().expect("there is a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("perfschema: the tables are not shared: fallocate in /dev/shm/perfschema-"), "{said}");
    assert!(output.status.success(), "{said}");
}

/// What people are told is no reason to keep from programs what is theirs.
#[cfg(target_os = "linux")]
#[test]
fn tables_for_programs_do_not_depend_on_the_standard_error() {
    let root = corpus("deaf");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfschema"));
    let output = command.args(["demo", "--format", "csv", root.to_str().unwrap()]).stderr(full).output().expect("it was built");
    assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
}

/// A server, killed if the test does not end it.
#[cfg(all(unix, feature = "instrument"))]
struct Server(std::process::Child);

#[cfg(all(unix, feature = "instrument"))]
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        // What it shared stays otherwise.
        let _ = Command::new(env!("CARGO_BIN_EXE_perfschema")).args(["prune", &self.0.id().to_string()]).output();
    }
}

/// Queries are answered over TCP and over a Unix socket, until Ctrl-C; and what was asked is what was answered, to the byte.
#[cfg(all(unix, feature = "instrument"))]
#[test]
fn serves_queries_until_ctrl_c() {
    use std::io::{BufRead, BufReader, Read, Write};
    let dir = folder("serves");
    // A name that would end the answer, and act on a terminal.
    fs::write(dir.join("o\n\n\u{1b}ne"), "to be, or not to be").unwrap();
    fs::write(dir.join("two"), "be be be").unwrap();
    // Short enough for the address of a socket.
    let socket = std::env::temp_dir().join(format!("perfschema-demo-test-{}", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfschema"));
    command.arg("demo").arg(&dir).args(["--listen", "127.0.0.1:0", "--format", "csv", "--socket"]).arg(&socket);
    command.env_remove("PERFSCHEMA_OPTIONS").stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut server = Server(command.spawn().expect("the program was built"));
    let mut err = BufReader::new(server.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut listens = || err.find_map(|line| line.strip_prefix("perfschema: listening on ").map(str::to_owned)).unwrap();
    let address = listens();
    assert_eq!(listens(), socket.to_str().unwrap());

    let ask = |mut stream: &mut dyn ReadWrite, query: &str| {
        stream.write_all(query.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut reader = BufReader::new(&mut stream);
        while !answer.ends_with(b"\n\n") {
            assert_ne!(reader.read_until(b'\n', &mut answer).unwrap(), 0);
        }
        String::from_utf8(answer).unwrap()
    };
    let mut tcp = std::net::TcpStream::connect(&address).unwrap();
    let mut unix = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    let (mut sent, mut received, mut queries) = (0, 0, 0);
    for stream in [&mut tcp as &mut dyn ReadWrite, &mut unix] {
        for (query, expected) in
            [("be\n", ["3\ttwo", "2\to\\n\\n\\u{1b}ne"].as_slice()), ("To be\n", &["4\to\\n\\n\\u{1b}ne"]), ("nothing\n", &[])]
        {
            let answer = ask(stream, query);
            let (head, rest) = answer.split_once('\n').unwrap();
            assert!(head.starts_with(&format!("{} documents, ", expected.len())), "{answer}");
            let shown: Vec<String> = rest.lines().map(|line| line.replace(&format!("{}/", dir.display()), "")).collect();
            assert_eq!(shown[..expected.len()], *expected);
            sent += query.len();
            received += answer.len();
            queries += 1;
        }
    }
    // In two pieces, and a line that is too long.
    unix.write_all(b"b").unwrap();
    assert!(ask(&mut unix, "e\n").starts_with("2 documents"));
    drop(unix);
    let mut long = std::net::TcpStream::connect(&address).unwrap();
    long.write_all(&[b'a'; 4096]).unwrap();
    let mut answer = String::new();
    long.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "the line is too long\n\n");
    for to in [&address, socket.to_str().unwrap()] {
        let out = succeeds(&["--load", to, "--connections", "2", "--seconds", "0.2"]);
        assert!(
            out.starts_with("asked ") && out.contains(" queries over 2 connections, 0 broken") && out.contains("latency "),
            "{out}"
        );
    }
    // Not a server of this kind: a line without an end.
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endless = other.local_addr().unwrap().to_string();
    let other = std::thread::spawn(move || {
        let (mut client, _) = other.accept().unwrap();
        while client.write_all(&[b'x'; 65_536]).is_ok() {}
    });
    let output = demo(&["--load", &endless, "--connections", "1", "--seconds", "20"]);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(out.contains(" 0 queries over 1 connections, 1 broken"), "{out}");
    assert!(!output.status.success() && err.contains(" broke: a line that is longer than any "), "{err}");
    other.join().unwrap();
    fails(&["--load", "/missing/socket"], "cannot connect to /missing/socket");
    fails(&["--load", "./missing"], "; perfschema demo --socket starts a server");
    // No server has this port for others, at this address.
    fails(&["--load", "127.0.0.1:0"], "; perfschema demo --listen starts a server");
    fails(&["--listen", "foo"], "'foo' for '--listen <ADDRESS>': expected an IP address and a port, like ");
    fails(&["--load", &address, "--listen", "127.0.0.1:0"], "cannot be used with");
    fails(&["--load", &address, dir.to_str().unwrap()], "cannot be used with");
    fails(&["--load", &address, "--format", "json"], "cannot be used with");
    fails(&[dir.to_str().unwrap(), "--listen", &address], "cannot listen on ");

    assert!(Command::new("kill").args(["-INT", &server.0.id().to_string()]).status().unwrap().success());
    let mut out = String::new();
    server.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(server.0.wait().unwrap().success());
    assert!(!socket.exists());
    // The connection that is still open is idle, and has a row with what came and went.
    let row = |table: &str, of: &str| {
        let mut lines = out.split("\n\n").find(|part| part.contains(&format!("\n{table},"))).unwrap().lines();
        let names: Vec<String> = lines.next().unwrap().split(',').map(str::to_owned).collect();
        let cells = lines.find(|line| line.contains(of)).unwrap_or_else(|| panic!("{table} has no {of}: {out}"));
        let cells: Vec<String> = cells.split(',').map(str::to_owned).collect();
        move |name: &str| cells[names.iter().position(|other| other == name).unwrap()].parse::<usize>().unwrap()
    };
    let connection = row("socket_summary_by_instance", "client_connection");
    assert_eq!(connection("SUM_NUMBER_OF_BYTES_READ") * 2, sent);
    assert_eq!(connection("COUNT_WRITE") * 2, queries);
    assert!(connection("SUM_NUMBER_OF_BYTES_WRITE") < received);
    assert!(row("events_waits_summary_global_by_event_name", ",idle,")("COUNT_STAR") > queries);
    drop(tcp);
}

/// What a client asks is the text of a statement, in which the stages of the query lie.
#[cfg(all(target_os = "linux", feature = "instrument"))]
#[test]
fn a_query_is_a_statement() {
    use std::io::{BufRead, BufReader, Read, Write};
    let dir = folder("statements");
    fs::write(dir.join("one"), "to be, or not to be").unwrap();
    fs::write(dir.join("two"), "be be größer").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfschema"));
    command.arg("demo").arg(&dir).args(["--listen", "127.0.0.1:0"]).env("PERFSCHEMA_SHARE", "1");
    command.env_remove("PERFSCHEMA_OPTIONS").stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut server = Server(command.spawn().expect("the program was built"));
    let mut err = BufReader::new(server.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    let address = err.find_map(|line| line.strip_prefix("perfschema: listening on ").map(str::to_owned)).unwrap();
    let pid = server.0.id().to_string();
    let rows = |select: &str| -> Vec<String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_perfschema"));
        let output = command.args(["sql", &pid, select, "--csv"]).output().unwrap();
        assert!(output.status.success(), "{select}: {output:?}");
        String::from_utf8(output.stdout).unwrap().lines().skip(1).map(str::to_owned).collect()
    };
    let mut client = std::net::TcpStream::connect(&address).unwrap();
    for query in ["be\n", "to be größer\n", "GRÖSSER or, 'größer'\r\n", "\n"] {
        client.write_all(query.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let mut reader = BufReader::new(&client);
        while !answer.ends_with(b"\n\n") {
            assert_ne!(reader.read_until(b'\n', &mut answer).unwrap(), 0);
        }
    }
    // It serves somebody, whom it waits for now.
    let session = "SELECT user, command, last_statement FROM sys.session WHERE user LIKE 'demo/connection-%'";
    assert_eq!(rows(session), ["demo/connection-1,Sleep,"]);
    assert_eq!(rows("SELECT host, db FROM processlist"), ["127.0.0.1,"]);
    client.write_all(&[b'a'; 4096]).unwrap();
    // The connection has ended, and so have all its statements.
    assert!(client.read_to_string(&mut String::new()).is_ok());
    let long = "a".repeat(1024);
    let expected = [
        "be,2,2,0,0,",
        "to be größer,0,4,0,0,",
        "\"GRÖSSER or, 'größer'\",0,2,0,0,",
        ",0,0,0,0,",
        &format!("{long},0,0,1,1153,the line is too long"),
    ];
    let select = "SELECT sql_text, rows_sent, rows_examined, errors, mysql_errno, message_text FROM events_statements_history_long \
                  WHERE event_name = 'statement/demo/search' ORDER BY event_id";
    assert_eq!(rows(select), expected);
    // Of the line that was too long nothing was searched.
    let stages = "SELECT s.event_name, COUNT(*), COUNT(q.event_id), SUM(s.timer_start < q.timer_start OR s.timer_end > q.timer_end) \
                  FROM events_stages_history_long s LEFT JOIN events_statements_history_long q ON q.thread_id = s.thread_id \
                  AND q.event_id = s.nesting_event_id AND s.nesting_event_type = 'STATEMENT' \
                  WHERE s.event_name IN ('stage/demo/answering', 'stage/demo/searching') GROUP BY s.event_name";
    assert_eq!(rows(stages), ["stage/demo/answering,4,4,0", "stage/demo/searching,4,4,0"]);

    // No longer than the long history holds.
    let out = succeeds(&["--load", &address, "--connections", "2", "--seconds", "0.02"]);
    let asked: u64 = out.split_whitespace().nth(1).unwrap().replace(',', "").parse().unwrap();
    let counted = rows("SELECT count_star, sum_errors FROM events_statements_summary_global_by_event_name");
    let (count, errors) = counted[0].split_once(',').unwrap();
    // Each client may have left without the answer to its last one.
    let count: u64 = count.parse().unwrap();
    assert!((asked + 5..=asked + 7).contains(&count) && errors == "1", "{out} {counted:?}");
    // However few the machine gave it time for, and whichever words those were.
    let load = "SELECT COUNT(*) > 0 FROM events_statements_history_long WHERE sql_text IS NOT NULL \
                AND thread_id > (SELECT MIN(thread_id) FROM events_statements_history_long)";
    assert_eq!(rows(load), [u8::from(count > 5).to_string()]);

    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut out = String::new();
    server.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let statements = out.split("\nStatements\n").nth(1).unwrap_or_else(|| panic!("{out}"));
    assert!(statements.lines().take(4).any(|line| line.contains("demo/search ")), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
}

/// What has taken the place of its socket is neither waited for nor removed. What a server that was killed has left is in no way.
#[cfg(all(unix, feature = "instrument"))]
#[test]
fn ends_though_its_socket_is_anothers() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::net::UnixListener;
    use std::time::{Duration, Instant};
    let dir = folder("others");
    fs::write(dir.join("one"), "to be").unwrap();
    // Short enough for the address of a socket.
    let socket = std::env::temp_dir().join(format!("perfschema-demo-others-{}", std::process::id()));
    drop(UnixListener::bind(&socket).unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfschema"));
    command.arg("demo").arg(&dir).arg("--socket").arg(&socket).env_remove("PERFSCHEMA_OPTIONS");
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let mut server = Server(command.spawn().expect("the program was built"));
    let mut err = BufReader::new(server.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(err.any(|line| line.starts_with("perfschema: listening on ")));
    fs::remove_file(&socket).unwrap();
    let other = UnixListener::bind(&socket).unwrap();
    assert!(Command::new("kill").args(["-INT", &server.0.id().to_string()]).status().unwrap().success());
    let start = Instant::now();
    let status = loop {
        if let Some(status) = server.0.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success());
    assert!(socket.exists());
    drop(other);
    fs::remove_file(&socket).unwrap();
}

#[cfg(all(unix, feature = "instrument"))]
trait ReadWrite: std::io::Read + std::io::Write {}
#[cfg(all(unix, feature = "instrument"))]
impl<T: std::io::Read + std::io::Write> ReadWrite for T {}
