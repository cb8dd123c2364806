//! `perfschema report`: a page that browsers read as it was meant, whatever the names in it, with the values of the tables.
#![cfg(all(feature = "instrument", target_os = "linux"))]

mod common;

use common::{PROGRAM, perfschema, signal, stop, succeeds, until, until_it_shares};
use scraper::{ElementRef, Html, Selector};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Names of files that want to be more than names.
const HOSTILE: [&str; 5] = [
    "\"><img src=x onerror=alert(1)>.txt",
    "<script>alert(2)<!-- .txt",
    "' onload='alert(3)' & &lt;b&gt;.txt",
    "\u{1b}[2J\u{202e}txt.exe.txt",
    "]]><style>*{display:none}.txt",
];

/// A demo that indexes such files, and stands still.
struct Stopped {
    child: Child,
    folder: PathBuf,
}

impl Stopped {
    fn new(name: &str) -> Stopped {
        let folder = std::env::temp_dir().join(format!("perfschema-report-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is a folder for such");
        for name in HOSTILE {
            std::fs::write(folder.join(name), "some words of a file that is read again and again\n").expect("it can be written");
        }
        let mut command = Command::new(PROGRAM);
        command
            .args(["demo", "--seconds", "3600"])
            .arg(&folder)
            .env("PERFSCHEMA_SHARE", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let demo = Stopped { child: command.spawn().expect("the program was built"), folder };
        until_it_shares(&demo.pid());
        until("it has read its files", || {
            let select = "SELECT COUNT(*) FROM file_summary_by_instance WHERE count_read > 0";
            demo.rows(select).first().and_then(|row| row.parse::<usize>().ok()) >= Some(HOSTILE.len())
        });
        stop(&demo.pid());
        demo
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// What SQL says, as CSV without the heading.
    fn rows(&self, select: &str) -> Vec<String> {
        succeeds(&["sql", &self.pid(), select, "--csv"]).lines().skip(1).map(str::to_owned).collect()
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        perfschema(&["prune", &self.pid()]);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn select<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    page.select(&Selector::parse(selector).expect("a selector")).collect()
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect()
}

/// The rows of a section's table by the names of its columns; of what is rounded, the exact value.
fn table(page: &Html, title: &str) -> Vec<Vec<(String, String)>> {
    let within = |element: &ElementRef<'_>| element.text().next() == Some(title);
    let section = select(page, "section, details").into_iter().find(within).unwrap_or_else(|| panic!("no section {title}"));
    let of = |element: ElementRef<'_>, selector: &str| -> Vec<String> {
        let selector = Selector::parse(selector).expect("a selector");
        element
            .select(&selector)
            .map(|cell| {
                let exact = cell.child_elements().find_map(|child| child.attr("value"));
                exact.map_or_else(|| text(cell), str::to_owned)
            })
            .collect()
    };
    let heads = of(section, "th");
    let rows = Selector::parse("tbody tr").expect("a selector");
    section.select(&rows).map(|row| heads.iter().cloned().zip(of(row, "td")).collect()).collect()
}

fn cell<'a>(row: &'a [(String, String)], column: &str) -> &'a str {
    row.iter().find(|(name, _)| name == column).map_or("", |(_, value)| value)
}

#[test]
fn a_page_of_hostile_names() {
    let demo = Stopped::new("hostile");
    let output = succeeds(&["report", &demo.pid(), "--output", "-"]);
    let page = Html::parse_document(&output);
    assert_eq!(page.errors, Vec::<std::borrow::Cow<'_, str>>::new());
    assert!(output.len() < 1 << 20, "{} bytes", output.len());

    // Only what the page is made of, and nothing that loads or runs.
    let elements: BTreeSet<&str> = select(&page, "*").iter().map(|element| element.value().name()).collect();
    let html =
        "html head meta title style body h1 dl dt dd section details summary h2 p div table thead tbody tr th td data span";
    let svg = "svg text rect polyline polygon line path circle";
    let allowed: BTreeSet<&str> = html.split(' ').chain(svg.split(' ')).collect();
    assert!(elements.is_subset(&allowed), "{:?}", elements.difference(&allowed));
    let attributes: BTreeSet<String> =
        select(&page, "*").iter().flat_map(|element| element.value().attrs().map(|(name, _)| name.to_owned())).collect();
    let loads =
        |name: &String| name.starts_with("on") || ["src", "href", "style", "xlink:href", "action"].contains(&name.as_str());
    assert!(!attributes.iter().any(loads), "{attributes:?}");
    assert!(!output.contains('\u{1b}') && !output.contains('\u{202e}'));
    assert_eq!(select(&page, "style").len(), 1);
    let policy = select(&page, "meta[http-equiv=Content-Security-Policy]");
    assert_eq!(policy[0].attr("content"), Some("default-src 'none'; style-src 'unsafe-inline'"));

    // The names are there, as texts.
    let files: Vec<String> = table(&page, "Files").iter().map(|row| cell(row, "FILE_NAME").to_owned()).collect();
    for name in HOSTILE {
        let shown = demo.folder.join(name).to_str().expect("UTF-8").replace('\u{1b}', r"\u{1b}").replace('\u{202e}', r"\u{202e}");
        assert!(files.contains(&shown), "{shown}: {files:?}");
    }
    let drawn: Vec<String> = select(&page, "svg text").into_iter().map(text).collect();
    assert!(drawn.iter().any(|text| text.contains("<script>")), "{drawn:?}");

    // The values are those of the tables.
    for (title, name, table_name) in [
        ("Waits by instrument", "EVENT_NAME", "events_waits_summary_global_by_event_name"),
        ("Stages by instrument", "EVENT_NAME", "events_stages_summary_global_by_event_name"),
        ("Files", "FILE_NAME", "file_summary_by_instance"),
    ] {
        let numbers = ["COUNT_STAR", "SUM_TIMER_WAIT", "MIN_TIMER_WAIT", "AVG_TIMER_WAIT", "MAX_TIMER_WAIT"];
        let select =
            format!("SELECT {} FROM {table_name} s WHERE count_star > 0 ORDER BY s.sum_timer_wait DESC", numbers.join(", "));
        let found: Vec<String> =
            table(&page, title).iter().map(|row| numbers.map(|number| cell(row, number)).join(",")).collect();
        assert_eq!(found, demo.rows(&select), "{title}");
        assert!(!cell(&table(&page, title)[0], name).is_empty());
    }
    let bytes = demo.rows(
        "SELECT sum_number_of_bytes_read FROM file_summary_by_instance s WHERE count_star > 0 ORDER BY s.sum_timer_wait DESC",
    );
    let found: Vec<String> = table(&page, "Files").iter().map(|row| cell(row, "SUM_NUMBER_OF_BYTES_READ").to_owned()).collect();
    assert_eq!(found, bytes);
    let consumers = table(&page, "Setup: setup_consumers").len();
    assert_eq!(demo.rows("SELECT COUNT(*) FROM setup_consumers"), [consumers.to_string()]);
    let enabled =
        demo.rows("SELECT name, count FROM information_schema.innodb_metrics WHERE status = 'enabled' ORDER BY subsystem, name");
    let found: Vec<String> =
        table(&page, "Metrics").iter().map(|row| ["NAME", "COUNT"].map(|name| cell(row, name)).join(",")).collect();
    assert!(!found.is_empty() && found == enabled, "{found:?}, {enabled:?}");
    let state = text(select(&page, "dd")[0]);
    assert_eq!(state, format!("perfschema, pid {}, is stopped", demo.pid()));
    // Charts: waits, at least a histogram, files by time and by bytes; each with a name for those who do not see it.
    let charts = select(&page, "svg");
    assert!(charts.len() >= 4, "{}", charts.len());
    assert!(
        charts
            .iter()
            .all(|chart| chart.attr("role") == Some("img") && chart.attr("aria-label").is_some_and(|name| !name.is_empty()))
    );
}

/// A server whose client does not read: what it executes is there with its text, which is cut for the eye only.
#[test]
fn statements_and_their_texts() {
    use std::io::Write;
    let folder = std::env::temp_dir().join(format!("perfschema-report-statements-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is a folder for such");
    std::fs::write(folder.join("a.txt"), "to be").expect("it can be written");
    let socket = folder.join("socket");
    let mut command = Command::new(PROGRAM);
    command.arg("demo").arg(&folder).arg("--socket").arg(&socket).env("PERFSCHEMA_SHARE", "1");
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program was built");
    let demo = Stopped { child, folder };
    // There is a moment in which its file is there and nobody listens yet.
    let mut client = None;
    until("it listens", || {
        client = std::os::unix::net::UnixStream::connect(&socket).ok();
        client.is_some()
    });
    let mut client = client.expect("it listens");
    let text = "\"><script>alert('größer')</script> & be";
    client.write_all(format!("{text}\n").repeat(1000).as_bytes()).expect("there is room for so much");
    let now = "SELECT sql_text, event_name, rows_sent, thread_id FROM sys.`x$current_statements` s";
    let counted = "SELECT count_star, sum_timer_wait, max_timer_wait, sum_rows_examined \
                   FROM events_statements_summary_global_by_event_name s WHERE count_star > 0";
    // Answers fill the socket, and it waits.
    until("nobody reads", || {
        let before = demo.rows(counted);
        std::thread::sleep(std::time::Duration::from_millis(20));
        !demo.rows(now).is_empty() && !before.is_empty() && before == demo.rows(counted)
    });
    let output = succeeds(&["report", &demo.pid()]);
    let page = Html::parse_document(&output);
    assert_eq!(page.errors, Vec::<std::borrow::Cow<'_, str>>::new());
    let of = |title: &str, names: &[&str]| -> Vec<String> {
        let row = |row: &Vec<(String, String)>| names.iter().map(|name| cell(row, name)).collect::<Vec<_>>().join(",");
        table(&page, title).iter().map(row).collect()
    };
    let shown = of("What is executed now", &["sql_text", "event_name", "rows_sent"]);
    assert_eq!(shown, [format!("{text},statement/demo/search,0")]);
    assert_eq!(of("What is executed now", &["thread_id"]), [demo.rows(now)[0].rsplit(',').next().unwrap_or_default()]);
    let columns = ["COUNT_STAR", "SUM_TIMER_WAIT", "MAX_TIMER_WAIT", "SUM_ROWS_EXAMINED"];
    assert_eq!(of("Statements by instrument", &columns), demo.rows(counted));
    // What is 0 everywhere is left out.
    assert_eq!(cell(&table(&page, "Statements by instrument")[0], "SUM_SORT_ROWS"), "");
    assert_eq!(select(&page, "td.text").iter().filter(|cell| cell.attr("title") == Some(text)).count(), 1);
    assert!(select(&page, "script").is_empty());
    // What runs is no longer there when somebody reads.
    drop(client);
    until("it ends", || demo.rows(now).is_empty());
    let page = Html::parse_document(&succeeds(&["report", &demo.pid()]));
    assert!(table(&page, "What is executed now").is_empty());
}

/// Transactions that go on, and the sums of all threads and of each: of this program, since the demo has none.
#[test]
fn transactions_by_thread() {
    use perfschema::core::timer::{MockClock, TimerName};
    use perfschema::core::{AccessMode, Actor, ActorIdentity, InstrumentName, Setting, TransactionStart, TransactionState};
    let process = perfschema::builder().environment(false).everything(true).share(true).start().expect("it starts");
    let (clock, region) = (MockClock::new(), process.region());
    let class = region.register(InstrumentName::literal("transaction"), Setting::ON).expect("there is room");
    let begin = |actor: &Actor<'static>, access_mode| {
        let start = TransactionStart { access_mode, isolation_level: "<b>SERIALIZABLE", ..TransactionStart::default() };
        actor.begin_transaction(&clock, region.switches(class), &start)
    };
    let commit = |actor: &Actor<'static>, access_mode, ns| {
        let transaction = begin(actor, access_mode);
        clock.advance(TimerName::Nanosecond, ns);
        actor.end_transaction(&clock, transaction, TransactionState::Committed);
    };
    let actor = |name| Actor::attach(region, &ActorIdentity { name, ..ActorIdentity::default() });
    let [gone, few, many] = ["thread/test/gone", "thread/test/few", "thread/test/many"].map(actor);
    commit(&gone, AccessMode::ReadWrite, 7);
    gone.detach();
    commit(&few, AccessMode::ReadOnly, 20);
    commit(&many, AccessMode::ReadWrite, 300);
    commit(&many, AccessMode::ReadOnly, 4_000);
    let _running = begin(&few, AccessMode::ReadWrite);

    let file = process.shared_file().expect("it was asked for").expect("there is room");
    let output = succeeds(&["report", file.to_str().expect("UTF-8"), "--output", "-"]);
    let _ = std::fs::remove_file(&file);
    let page = Html::parse_document(&output);
    assert_eq!(page.errors, Vec::<std::borrow::Cow<'_, str>>::new());
    let of = |title: &str, names: &[&str]| -> Vec<String> {
        let row = |row: &Vec<(String, String)>| names.iter().map(|name| cell(row, name)).collect::<Vec<_>>().join(",");
        table(&page, title).iter().map(row).collect()
    };
    assert_eq!(
        of("Transactions that go on", &["thread_name", "access_mode", "isolation_level", "autocommit"]),
        ["thread/test/few,READ WRITE,<b>SERIALIZABLE,NO"]
    );
    let figures = [
        "NAME",
        "COUNT_STAR",
        "SUM_TIMER_WAIT",
        "COUNT_READ_WRITE",
        "SUM_TIMER_READ_WRITE",
        "COUNT_READ_ONLY",
        "MAX_TIMER_READ_ONLY",
    ];
    assert_eq!(
        of("Transactions by thread", &figures),
        [
            "all threads,4,4327000,2,307000,2,4000000",
            "thread/test/many,2,4300000,1,300000,1,4000000",
            "thread/test/few,1,20000,0,0,1,20000",
        ]
    );
    let charts = select(&page, "svg");
    let is_ours = |chart: &ElementRef<'_>| chart.attr("aria-label").is_some_and(|name| name.contains("Time in transactions"));
    assert!(charts.iter().any(is_ours), "{output}");
}

/// What waits now is there with its holder, as SQL has it; and a program that was killed still has a page, in a file.
#[test]
fn waits_and_the_dead() {
    let mut demo = Stopped::new("dead");
    let select = "SELECT thread_id, source, holder_thread_id FROM sys.`x$current_waits` w ORDER BY w.wait_so_far DESC";
    let waits = |page: &Html| -> Vec<String> {
        let row = |row: &Vec<(String, String)>| {
            ["thread_id", "source", "holder_thread_id"].map(|name| cell(row, name).replace("NULL", "")).join(",")
        };
        table(page, "What waits now").iter().map(row).collect()
    };
    // Stopped at a moment when somebody waits.
    until("a moment with a wait", || {
        signal(&demo.pid(), "-CONT");
        std::thread::sleep(std::time::Duration::from_millis(3));
        stop(&demo.pid());
        !demo.rows(select).is_empty()
    });
    let page = Html::parse_document(&succeeds(&["report", &demo.pid()]));
    assert_eq!(waits(&page), demo.rows(select));

    demo.child.kill().expect("it was started here");
    demo.child.wait().expect("it was started here");
    let file = demo.folder.join("report.html");
    let name = file.to_str().expect("UTF-8");
    for _ in 0..2 {
        // A second time it is replaced.
        let (success, out, err) = perfschema(&["report", &demo.pid(), "--output", name]);
        assert!(success && out.is_empty() && err == format!("perfschema: {name} written\n"), "{out}{err}");
    }
    let written = std::fs::read_to_string(&file).expect("it was written");
    let page = Html::parse_document(&written);
    assert!(text(select_first(&page, "dd")).ends_with(", has ended"));
    assert!(written.ends_with("</html>"));
    // Where there is no room for the new one, the old one stays; nobody else may read the new one, and a link stays one.
    let script = "ulimit -f 4 && trap '' 25 && exec \"$0\" report \"$1\" --output \"$2\"";
    let output = Command::new("sh").args(["-c", script, PROGRAM, &demo.pid(), name]).output().expect("there is a shell");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && err.contains("report.html: File too large"), "{err}");
    assert!(std::fs::read_to_string(&file).is_ok_and(|now| now == written));
    let link = demo.folder.join("link.html");
    std::os::unix::fs::symlink(&file, &link).expect("there is room");
    std::fs::write(&file, "old").expect("there is room");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("it is this user's");
    let before = std::fs::read_dir(&demo.folder).expect("it is there").count();
    succeeds(&["report", &demo.pid(), "--output", link.to_str().expect("UTF-8")]);
    assert!(link.is_symlink() && std::fs::read_to_string(&file).is_ok_and(|now| now.ends_with("</html>")));
    assert_eq!(std::fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(&demo.folder).expect("it is there").count(), before, "nothing beside it");
    // To what is no file it is written.
    assert!(succeeds(&["report", &demo.pid(), "--output", "/dev/stdout"]).ends_with("</html>"));

    let (success, _, err) = perfschema(&["report", &demo.pid(), "--output", "/no/such\n/x.html"]);
    assert!(!success && err.starts_with("perfschema: cannot write: /no/such\\n/x.html: ") && err.lines().count() == 1, "{err}");
    let (success, _, err) = perfschema(&["report", &demo.pid(), "--output", "/no/such/folder/x.html"]);
    assert!(!success && err.contains("/no/such/folder/x.html: No such file"), "{err}");
    let (success, _, err) = perfschema(&["report", "no-such-program"]);
    assert!(!success && err.contains("no program no-such-program"), "{err}");
}

fn select_first<'a>(page: &'a Html, selector: &str) -> ElementRef<'a> {
    select(page, selector)[0]
}
