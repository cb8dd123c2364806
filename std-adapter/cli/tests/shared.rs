//! `perfschema list`, `show`, `prune`: a program that shares its tables, read while it runs, while it is stopped, and when it was
//! killed.
#![cfg(all(feature = "instrument", target_os = "linux"))]

mod common;

use common::{Demo, PROGRAM, perfschema, succeeds, until, until_it_shares};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// STATE of the program in the list, once it is there.
fn state(demo: &Demo) -> Option<String> {
    let list = succeeds(&["list", "--format", "csv"]);
    let row = list.lines().find(|line| line.starts_with(&format!("{},", demo.pid())))?.to_owned();
    assert_eq!(row.split(',').nth(1), Some("perfschema"), "{row}");
    // When, not how long ago.
    assert!(row.split(',').nth(3).is_some_and(|started| started.starts_with("20") && started.len() == 19), "{row}");
    row.split(',').nth(2).map(str::to_owned)
}

/// Where its tables are.
fn file(demo: &Demo) -> std::path::PathBuf {
    let list = succeeds(&["list", "--format", "csv"]);
    let row = list.lines().find_map(|line| line.strip_prefix(&format!("{},", demo.pid()))).expect("it is there");
    row.rsplit(',').next().expect("the last column").into()
}

/// A number that no process has, and of those each test another one.
fn no_pid(test: u32) -> String {
    (4_200_000_000 + 10 * std::process::id() + test).to_string()
}

/// Waits counted for the demo's instruments.
fn waits(demo: &Demo) -> u64 {
    let table = succeeds(&["show", &demo.pid(), "events_waits_summary_global_by_event_name", "--format", "csv"]);
    let counts = table.lines().skip(1).map(|line| line.split(',').nth(1).and_then(|count| count.parse::<u64>().ok()));
    counts.map(|count| count.expect("COUNT_STAR is a number")).sum()
}

#[test]
fn running_stopped_killed_pruned() {
    let mut demo = Demo::start();
    until_it_shares(&demo.pid());
    assert_eq!(state(&demo).as_deref(), Some("runs"));
    until("it counts", || waits(&demo) > 0);
    let before = waits(&demo);
    until("it goes on", || waits(&demo) > before);
    let current = succeeds(&["show", &demo.pid()]);
    assert!(current.contains("/demo/") && current.contains("SOURCE"), "{current}");
    assert!(!current.contains("OBJECT_SCHEMA"), "a column that is NULL in every row: {current}");
    // By its whole name, too; what else SQL has, show has not.
    assert!(succeeds(&["show", &demo.pid(), "Performance_Schema.threads"]).contains("thread/perfschema/main"));
    let (_, _, said) = perfschema(&["show", &demo.pid(), "sys.session"]);
    assert!(
        said.contains("expected a table of performance_schema; `perfschema sql TARGET \"SELECT * FROM sys.session\"`"),
        "{said}"
    );
    assert_eq!(succeeds(&["sql", &demo.pid(), "SELECT 1 AS one", "--format", "csv"]), "one\n1\n");
    let threads = || succeeds(&["show", &demo.pid(), "threads"]);
    until("somebody is in a stage, and it is known for how long", || threads().contains("PROCESSLIST_TIME"));

    // What goes into a file or a pipe is not shortened.
    let piped = Command::new(PROGRAM).args(["list"]).env_remove("COLUMNS").output().expect("the program was built");
    let piped = String::from_utf8(piped.stdout).expect("UTF-8");
    assert!(piped.contains("/dev/shm/perfschema-") && !piped.contains('…'), "{piped}");
    // Nor does COLUMNS say so where it says nothing.
    for columns in ["", "0", "x"] {
        let piped = Command::new(PROGRAM).args(["list"]).env("COLUMNS", columns).output().expect("the program was built");
        assert!(String::from_utf8_lossy(&piped.stdout).contains("/dev/shm/perfschema-"), "{columns:?}");
    }

    demo.stop();
    assert_eq!(state(&demo).as_deref(), Some("runs"));

    assert_eq!(succeeds(&["prune", &demo.pid()]), "", "a program that runs keeps its tables");
    demo.signal("-KILL");
    demo.0.wait().expect("it was started here");
    assert_eq!(state(&demo).as_deref(), Some("ended"));
    let left = waits(&demo);
    assert!(left > before);
    let file = succeeds(&["prune", "--dry-run", &demo.pid()]);
    assert_eq!(state(&demo).as_deref(), Some("ended"), "a dry run removes nothing");
    let threads = succeeds(&["show", file.trim_end(), "threads"]);
    assert!(threads.contains("worker-1"), "by its file");
    assert!(!threads.contains("PROCESSLIST_TIME"), "nothing lasts any longer: {threads}");
    // Of what has ended there are no next values to try again with.
    let (success, _, said) = perfschema(&["export", &demo.pid(), "--otlp", "http://127.0.0.1:1"]);
    assert!(!success && said.lines().count() == 1 && !said.contains("trying again"), "{said}");
    assert_eq!(succeeds(&["prune", &demo.pid()]), file);
    assert_eq!(state(&demo), None);
    let mut said = String::new();
    demo.0.stderr.take().expect("piped").read_to_string(&mut said).expect("UTF-8");
    assert!(!said.contains("panicked"), "{said}");
}

/// The file says whether its program runs, wherever it is read: another user's, a container's.
#[test]
fn by_a_path_that_is_not_in_the_list() {
    let mut demo = Demo::start();
    until_it_shares(&demo.pid());
    let other = format!("/dev/shm/perfschema-test-other-{}", demo.pid());
    std::fs::hard_link(file(&demo), &other).expect("it is on the same file system");
    let top = || succeeds(&["top", &other, "--batch", "--view", "waits", "-d", "0.05"]);
    let sql = |statement: &str| perfschema(&["sql", &other, statement, "--csv"]);
    let page = || succeeds(&["report", &other, "--output", "-"]);
    assert!(top().contains(" runs, ") && page().contains(", runs<"));
    assert_eq!(sql("UPDATE setup_instruments SET timed = 'NO' WHERE name = 'idle'"), (true, String::new(), String::new()));
    // What a link leads to, and not what it says.
    let nameless = format!("{other}-nameless");
    std::fs::hard_link(&other, &nameless).expect("it is on the same file system");
    let opened = std::fs::File::open(&nameless).expect("it is this user's");
    std::fs::remove_file(&nameless).expect("it can be removed");
    let says = format!("{nameless} (deleted)");
    std::fs::write(&says, "another file").expect("there is room");
    let link = format!("/proc/{}/fd/{}", std::process::id(), opened.as_raw_fd());
    let (success, out, err) = perfschema(&["top", &link, "--batch", "--view", "waits", "-d", "0.05"]);
    std::fs::remove_file(&says).expect("it can be removed");
    assert!(success && out.contains(" runs, "), "{out}{err}");
    demo.signal("-STOP");
    until("it is stopped", || top().contains(" is stopped, ") && page().contains(", is stopped<"));
    demo.signal("-KILL");
    demo.0.wait().expect("it was started here");
    assert!(top().contains(" has ended, ") && page().contains(", has ended<"));
    let (success, _, err) = sql("UPDATE setup_instruments SET timed = 'NO'");
    assert!(!success && err.contains("ERROR 1290"), "{err}");
    std::fs::remove_file(&other).expect("it can be removed");
}

/// A file that is named is read whatever the state of the reader's own directory: here that of a user whom only a namespace makes of this
/// one. Where there may be none, nothing is tried.
#[test]
fn a_path_needs_no_directory_of_the_readers_own() {
    let in_namespace = |args: &[&str]| {
        let output = Command::new("unshare").args(["--user", "--"]).args(args).output().expect("there is unshare");
        (output.status.success(), [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat())
    };
    let (is_allowed, user) = in_namespace(&["id", "-u"]);
    let unusable = std::path::PathBuf::from(format!("/dev/shm/perfschema-{}", user.trim_end()));
    if !is_allowed || std::fs::create_dir(&unusable).is_err() {
        eprintln!("A DIRECTORY THAT IS UNUSABLE IS NOT TESTED: there may be no namespace of another user");
        return;
    }
    std::fs::set_permissions(&unusable, std::fs::Permissions::from_mode(0o755)).expect("it is this user's");
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let file = file(&demo);
    let file = file.to_str().expect("UTF-8");
    let by_pid = in_namespace(&[PROGRAM, "sql", &demo.pid(), "SELECT 1"]);
    let others = [&["sql", file, "SELECT 1"][..], &["report", file], &["top", file, "--batch", "-d", "0.05"]];
    let by_path = others.map(|args| in_namespace(&[&[PROGRAM], args].concat()));
    std::fs::remove_dir(&unusable).expect("nothing is in it");
    assert!(!by_pid.0 && by_pid.1.contains("is not a directory of this user alone"), "{}", by_pid.1);
    assert!(by_path.iter().all(|(success, _)| *success), "{by_path:?}");
}

/// Of a program in a folder whose name is no text, and whose own is cut in the middle of a letter where the system keeps it.
#[test]
fn whether_it_runs_does_not_depend_on_names() {
    use std::os::unix::ffi::OsStrExt;
    let folder = std::env::temp_dir().join(std::ffi::OsStr::from_bytes(b"perfschema-caf\xe9"));
    std::fs::create_dir_all(&folder).expect("it can be made");
    let program = folder.join("aaaaaaaaaaaaaa\u{e9}");
    // Not written here: what another test's child still has open for writing, forked meanwhile, cannot be started.
    let copied = std::process::Command::new("cp").arg(common::PROGRAM).arg(&program).status().expect("there is cp");
    assert!(copied.success());
    let demo = Demo::of(&program);
    // What another program has left that had its number.
    perfschema(&["prune", &demo.pid()]);
    let state = || {
        let list = succeeds(&["list", "--format", "csv"]);
        list.lines().find_map(|line| Some(line.strip_prefix(&format!("{},", demo.pid()))?.contains(",runs")))
    };
    until("it shares its tables", || state().is_some());
    assert_eq!(state(), Some(true));
    let (success, out, err) = perfschema(&["prune", &demo.pid()]);
    assert!(success && out.is_empty() && err.contains(" runs and keeps its tables"), "{out}{err}");
    // The last column is that of the files, which have no room in a narrow frame.
    let columns = |width: &str| {
        let output =
            std::process::Command::new(common::PROGRAM).arg("list").env("COLUMNS", width).output().expect("it was built");
        String::from_utf8(output.stdout).expect("UTF-8").lines().nth(1).expect("the heading").replace([' ', '|'], "")
    };
    assert_eq!(columns("60"), "PIDPROGRAMSTATESTARTEDTHREADS");
    assert_eq!(columns("1000"), "PIDPROGRAMSTATESTARTEDTHREADSFILE");
    succeeds(&["sql", &demo.pid(), "UPDATE setup_instruments SET timed = 'NO' WHERE name = 'idle'"]);
    // By a link to its file.
    let list = succeeds(&["list", "--format", "csv"]);
    let file =
        list.lines().find_map(|line| line.strip_prefix(&format!("{},", demo.pid()))?.rsplit(',').next()).expect("it is there");
    let link = folder.with_file_name(format!("perfschema-link-{}", demo.pid()));
    std::os::unix::fs::symlink(file, &link).expect("it can be made");
    let link_name = link.to_str().expect("UTF-8");
    assert!(succeeds(&["top", link_name, "--batch", "--view", "waits", "-d", "0.05"]).contains(" runs, "));
    std::fs::remove_file(&link).expect("it can be removed");
    demo.signal("-STOP");
    until("it is stopped", || {
        succeeds(&["top", &demo.pid(), "--batch", "--view", "waits", "-d", "0.05"]).contains(" is stopped, ")
    });
    std::fs::remove_dir_all(&folder).expect("it can be removed");
}

/// A file of the list begins with its region, or has none: nothing is looked for in it, however large it is.
#[test]
fn what_no_program_has_put_there_is_not_searched() {
    let pid = no_pid(0);
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let region = file(&demo);
    let path = region.with_file_name(format!("{pid}-1"));
    let file = std::fs::File::create(&path).expect("it is this user's directory");
    // A hole with a region behind it.
    let bytes = std::fs::read(&region).expect("it is this user's");
    file.write_all_at(&bytes, 1 << 22).expect("there is room");
    let blocks = || file.metadata().expect("it is there").blocks();
    let before = blocks();
    let (success, out, err) = perfschema(&["list", "--format", "csv"]);
    let (pruned, pruned_out, _) = perfschema(&["prune", &pid]);
    assert!(success && out.contains(&format!("\n{pid},,ended,")), "{out}");
    assert!(err.contains(&format!("perfschema: {pid}: not a region: ")), "{err}");
    assert_eq!(blocks(), before);
    assert!(pruned && pruned_out.trim_end() == path.to_str().expect("UTF-8"), "{pruned_out}");
}

/// It is found by its name, and what does not fit is said.
#[test]
fn a_program_of_another_version_is_not_unknown() {
    let [pid, name] = [6, 7].map(no_pid);
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let region = file(&demo);
    let mut bytes = std::fs::read(&region).expect("it is this user's");
    bytes[8..16].copy_from_slice(&99_u64.to_ne_bytes());
    bytes[56..64].copy_from_slice(&(name.len() as u64).to_ne_bytes());
    bytes[64..64 + name.len()].copy_from_slice(name.as_bytes());
    let path = region.with_file_name(format!("{pid}-1"));
    std::fs::write(&path, bytes).expect("it is this user's directory");
    let [(_, list, listed), (shown, _, why)] = [&["list", "--format", "csv"][..], &["show", &name]].map(perfschema);
    std::fs::remove_file(&path).expect("it can be removed");
    assert!(list.contains(&format!("\n{pid},{name},ended,")), "{list}");
    let said = "region of layout version 99, expected ";
    assert!(!shown && why.contains(said) && listed.contains(said), "{why}");
}

/// Nobody has a link in memory, wherever it leads.
#[test]
fn a_link_is_no_program() {
    let pid = no_pid(1);
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let link = file(&demo).with_file_name(format!("{pid}-1"));
    std::os::unix::fs::symlink("/proc/self/exe", &link).expect("it is this user's directory");
    let (success, out, err) = perfschema(&["list", "--format", "csv"]);
    let pruned = perfschema(&["prune", &pid]);
    let is_left = std::fs::remove_file(&link).is_ok();
    assert!(success && out.contains(&format!("\n{pid},,ended,")), "{out}");
    assert!(err.contains(&format!("perfschema: {pid}: not an ordinary file\n")), "{err}");
    assert_eq!((pruned, is_left), ((true, format!("{}\n", link.display()), String::new()), false));
}

/// Whoever writes in a container, or is another user, says by a link to which program root's commands go.
#[test]
fn links_of_others_lead_to_none_of_ones_own_programs() {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let own = file(&demo);
    let select = "SELECT COUNT(*) FROM setup_consumers";
    succeeds(&["sql", own.to_str().expect("a path of ours"), select]);
    // In a directory of somebody's.
    let folder = std::env::temp_dir().join(format!("perfschema-links-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("it can be made");
    let link = folder.join("77-1");
    std::os::unix::fs::symlink(&own, &link).expect("it can be made");
    let (success, _, said) = perfschema(&["sql", link.to_str().expect("a path of ours"), select]);
    assert!(!success && said.ends_with("77-1: a link, and no program's file\n"), "{said}");
    std::fs::remove_file(&link).expect("it is there");
    // Where shared memory is another one, and the root.
    let script = "mount --rbind / \"$0\" && mount -t tmpfs none \"$0/dev/shm\" && ln -s \"$1\" \"$0/dev/shm/1-1\" && exec chroot \"$0\" sleep 60";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(&folder).arg(&own);
    let mut container = command.spawn().expect("there is unshare");
    let root = format!("/proc/{}/root", container.id());
    let link = format!("{root}/dev/shm/1-1");
    let mut is_there = false;
    until("there is a container, or may be none", || {
        is_there = std::fs::symlink_metadata(&link).is_ok_and(|link| link.is_symlink());
        is_there || container.try_wait().expect("a child").is_some()
    });
    let (success, out, said) = perfschema(&["sql", &link, select]);
    // It has the whole of the other files.
    let passwd = perfschema(&["show", &format!("{root}/etc/passwd")]).2;
    let _ = (container.kill(), container.wait());
    std::fs::remove_dir(&folder).expect("nothing is mounted here");
    if is_there {
        assert!(!success && said.contains("No such file"), "{out}{said}");
        assert!(passwd.contains("there is no region in it"), "{passwd}");
    } else {
        eprintln!("LINKS IN A CONTAINER ARE NOT TESTED: there may be none");
    }
}

/// As where containers share their memory: in each of them the first program has number 1.
#[test]
fn programs_of_one_number_are_told_apart_by_their_files() {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let file = file(&demo);
    let other = file.with_file_name(format!("{}-1", demo.pid()));
    std::fs::hard_link(&file, &other).expect("it is on the same file system");
    let (success, out, err) = perfschema(&["show", &demo.pid()]);
    std::fs::remove_file(&other).expect("it can be removed");
    assert!(!success && out.is_empty(), "{out}");
    let files = format!("give the file, one of {}, {}\n", other.display(), file.display());
    assert_eq!(err, format!("perfschema: several programs have the number {}: {files}", demo.pid()));
}

/// A program that runs, and has the number of one that left its tables: as after many others, or where it became another program (`exec`).
#[test]
fn tables_of_an_earlier_program_are_said_to_be_that() {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let pid = std::process::id().to_string();
    let path = file(&demo).with_file_name(format!("{pid}-1"));
    std::fs::copy(file(&demo), &path).expect("there is room");
    let shown = perfschema(&["show", &pid, "threads"]);
    std::fs::remove_file(&path).expect("it can be removed");
    let said = "does not share its tables: these are of one that had this number before, and has ended\n";
    assert!(shown.0 && shown.2 == format!("perfschema: program {pid} {said}"), "{shown:?}");
}

/// A name may be one of digits.
#[test]
fn a_program_that_is_called_as_a_number() {
    let name = no_pid(5);
    let folder = std::env::temp_dir().join(format!("perfschema-number-{name}"));
    std::fs::create_dir_all(&folder).expect("it can be made");
    let copied = Command::new("cp").arg(PROGRAM).arg(folder.join(&name)).status().expect("there is cp");
    assert!(copied.success());
    let demo = Demo::of(&folder.join(&name));
    until_it_shares(&demo.pid());
    assert!(succeeds(&["show", &name, "threads"]).contains(&format!("thread/{name}/main")));
    std::fs::remove_dir_all(&folder).expect("it can be removed");
}

/// What cannot be removed keeps nothing else.
#[test]
fn prune_removes_what_it_can() {
    let pids = [2, 3, 4].map(no_pid);
    // Makes the directory, too.
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let region = file(&demo);
    let [first, directory, last] = pids.each_ref().map(|pid| region.with_file_name(format!("{pid}-1")));
    std::fs::create_dir(&directory).expect("it is this user's directory");
    [&first, &last].into_iter().for_each(|path| std::fs::write(path, "nothing").expect("it is this user's directory"));
    let (success, out, err) = perfschema(&[&["prune"], &pids.each_ref().map(String::as_str)[..]].concat());
    let is_there = [&first, &directory, &last].map(|path| path.exists());
    std::fs::remove_dir(&directory).expect("nothing is in it");
    assert_eq!((success, is_there), (false, [false, true, false]), "{out}{err}");
    assert_eq!(out, format!("{}\n{}\n", first.display(), last.display()));
    let said =
        format!("perfschema: cannot remove {}: Is a directory (os error 21)\nperfschema: 1 file is left\n", directory.display());
    assert_eq!(err, said);
}

/// A program of nobody's where root runs the test, and the first of all programs, which is root's, where not.
#[test]
fn another_users_program_is_said_to_be_one() {
    let mut nobodys = None;
    let (pid, user) = if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
        let child = nobodys.insert(Command::new("sleep").arg("60").uid(65534).spawn().expect("sleep is there"));
        (child.id(), 65534)
    } else {
        (1, std::fs::metadata("/proc/1").unwrap().uid())
    };
    let (success, out, err) = perfschema(&["show", &pid.to_string()]);
    if let Some(mut child) = nobodys {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    if user == std::fs::metadata("/proc/self").unwrap().uid() {
        return; // In a container of this user's.
    }
    let said = format!("perfschema: program {pid} is another user's: ");
    let path = format!("/dev/shm/perfschema-{user}/{pid}-…\n");
    assert!(!success && out.is_empty() && err.starts_with(&said) && err.ends_with(&path), "{err}");
}

#[test]
fn what_is_not_there_is_said() {
    let fails = |args: &[&str], expected: &str| {
        let (success, out, err) = perfschema(args);
        assert!(!success && out.is_empty() && err.contains(expected), "{args:?}: {out}{err}");
    };
    fails(&["show", "no-such-program"], "no program no-such-program shares its tables; expected a pid or a name");
    fails(&["show", "4294967295"], "no program 4294967295");
    let own = std::process::id().to_string();
    fails(
        &["show", &own],
        &format!("program {own} does not share its tables: a program does if it is started with PERFSCHEMA_SHARE=1"),
    );
    fails(&["show", ""], "no program '' shares its tables");
    // Whatever a name has in it, a message is one line.
    for args in [&["show", "evil\n"][..], &["show", "/evil\n"], &["demo", "evil\n"], &["demo", "--load", "/evil\n"]] {
        fails(args, "evil\\n");
        assert_eq!(perfschema(args).2.lines().count(), 1, "{args:?}");
    }
    fails(&["show", "/no/such/file"], "/no/such/file: No such file");
    fails(
        &["show", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")],
        "/Cargo.toml: there is no region in it, at any multiple of 8 bytes; of a program that shares",
    );
    fails(&["show", "x", "no_such_table"], "Table 'performance_schema.no_such_table' doesn't exist");
    for args in [&["prune", "x"][..], &["sql", "x", "--timeout", "0"], &["top", "x", "-n", "-"], &["demo", "--threads", "70000"]]
    {
        fails(args, "': expected a whole number above 0");
    }
    // Of a number below 0 not that it is no option.
    for args in [&["prune", "-1"][..], &["sql", "x", "--timeout", "-1"], &["top", "x", "-n", "-1"], &["demo", "--threads", "-1"]]
    {
        fails(args, "invalid value '-1' for '");
    }
    fails(&["top", "x", "-d", "-0.5"], "'-0.5' for '--delay <SECONDS>': expected seconds from 0.05 to 86400");
    fails(&["demo", "--seconds", "-1"], "'-1' for '--seconds <N>': expected a number of seconds above 0");
    fails(&["prometheus", "x", "--instances", "-1"], "'-1' for '--instances <NUMBER>': expected a whole number");
    fails(&["export", "x", "--otlp", "http://x", "--interval", "-1"], "'-1' for '--interval <TIME>': expected ");
    fails(&["prometheus", "x", "--instances", "many"], "'many' for '--instances <NUMBER>': expected a whole number");
    fails(&["serve", "x", "--accounts", "x", "--mysql", "localhost:1"], "expected an IP address and a port, like 127.0.0.1:3307");
    let (success, out, err) = perfschema(&["prune", "4294967295"]);
    assert!(success && out.is_empty() && err.contains("no program 4294967295 has left tables"), "{out}{err}");
}

/// As any other path.
#[test]
fn a_path_need_not_be_utf8() {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let name = [b"/dev/shm/perfschema-test-\xff-", demo.pid().as_bytes()].concat();
    let name = std::ffi::OsStr::from_bytes(&name);
    std::fs::hard_link(file(&demo), name).expect("it is on the same file system");
    let mut show = Command::new(PROGRAM);
    let there = show.arg("show").arg(name).arg("threads").output().expect("the program was built");
    std::fs::remove_file(name).expect("it was made here");
    assert!(there.status.success() && String::from_utf8_lossy(&there.stdout).contains("worker-1"), "{there:?}");
    let mut show = Command::new(PROGRAM);
    let gone = show.arg("show").arg(name).output().expect("the program was built");
    assert_eq!(gone.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&gone.stderr).contains(": No such file or directory"), "{gone:?}");
}

/// Beside a program that is looked at nothing takes the memory of the machine.
#[test]
fn what_has_no_end_is_refused() {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let pid = demo.pid();
    let otlp = ["--otlp", "http://127.0.0.1:1", "--headers", "/dev/zero"];
    let tls = ["--tls-certificate", "/dev/zero", "--tls-key", "/dev/zero"];
    let accounts = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("endless-accounts");
    std::fs::write(&accounts, "boss controller no-password\n").expect("it is ours");
    std::fs::set_permissions(&accounts, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
    let serve = ["serve", &pid, "--mysql", "127.0.0.1:0", "--accounts", accounts.to_str().expect("UTF-8")];
    for (args, expected) in [
        (vec!["sql", &pid], "longer than 64 MiB"),
        (vec!["shell", &pid], "longer than 64 MiB"),
        (vec!["account", "ada", "reader"], "longer than 1 MiB"),
        ([&["export", &pid][..], &otlp].concat(), "/dev/zero: longer than 1 MiB"),
        ([&serve[..], &tls].concat(), "/dev/zero: longer than 16 MiB"),
    ] {
        let mut command = Command::new(PROGRAM);
        let endless = std::fs::File::open("/dev/zero").expect("there is one");
        let output = command.args(&args).stdin(endless).output().expect("the program was built");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(output.status.code() == Some(1) && said.trim_end().ends_with(expected), "{args:?}: {:?} {said}", output.status);
    }
}

/// A file that may not be as long as it is to be is an error, and nothing of it stays.
#[test]
fn a_limit_of_file_sizes_leaves_nothing_behind() {
    let demo = Demo::start();
    until_it_shares(&demo.pid());
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("limited-files");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).expect("it is ours");
    for command in ["prometheus", "report"] {
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -f 4; exec \"$0\" \"$@\"", PROGRAM, command, &demo.pid(), "--output"]);
        let output = limited.arg(folder.join("limited")).output().expect("there is a shell");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(output.status.code() == Some(1) && said.contains("File too large"), "{command}: {:?} {said}", output.status);
        assert_eq!(std::fs::read_dir(&folder).expect("it is ours").count(), 0, "{command}");
    }
}
