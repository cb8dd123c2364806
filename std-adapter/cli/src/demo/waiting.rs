//! Who waits for whom, in words.

use console::truncate_str;
use perfschema::core::picotime::format_pico_time;
use std::fmt;

/// A thread, right now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadNow {
    pub(crate) name: String,
    /// None: it does something.
    pub(crate) wait: Option<WaitNow>,
}

/// A wait that lasts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WaitNow {
    pub(crate) operation: &'static str,
    /// The last two parts of the instrument's name; the operation tells of which kind it is.
    pub(crate) object: String,
    pub(crate) holder: Holder,
    /// None: it is not timed.
    pub(crate) since_ps: Option<u64>,
    pub(crate) source: String,
}

/// Who holds what is waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "instrument"), allow(dead_code, reason = "only the tables tell"))]
pub(crate) enum Holder {
    /// It is not of a kind that is held.
    #[default]
    None,
    /// It is free again; who waits for it has not been woken yet, or waits for a core.
    Nobody,
    /// A thread, alone.
    Thread(String),
    /// So many threads, which read.
    Readers(u32),
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Holder::None => f.pad(""),
            Holder::Nobody => f.pad("nobody"),
            Holder::Thread(name) => f.pad(name),
            Holder::Readers(1) => f.pad("1 reader"),
            Holder::Readers(count) => f.pad(&format!("{count} readers")),
        }
    }
}

/// A line for each thread, in columns that stay where they are. With more threads than lines, those that wait come first.
pub(crate) fn view(threads: &[ThreadNow], lines: usize, width: usize) -> String {
    let mut threads: Vec<&ThreadNow> = threads.iter().collect();
    if threads.len() > lines {
        threads.sort_by_key(|thread| thread.wait.is_none());
    }
    let head = columns("thread", "waits", "for", "held by", "at");
    let rows = threads.iter().take(lines).map(|thread| match &thread.wait {
        None => columns(&thread.name, "-", "", "", ""),
        Some(wait) => {
            let WaitNow { operation, object, .. } = wait;
            columns(&thread.name, &wait.time(), &format!("{operation} {object}"), &wait.holder.to_string(), &wait.source)
        }
    });
    let lines = std::iter::once(head).chain(rows).map(|line| truncate_str(&line, width, "…").into_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// All but the last fit into 80 columns for what the demo waits for.
fn columns(thread: &str, time: &str, what: &str, holder: &str, source: &str) -> String {
    format!(" {thread:<10} {time:>9}  {what:<26}  {holder:<9}  {source}").trim_end().to_owned()
}

/// `worker-2 waits 312 us for demo/dictionary (read_lock, dictionary.rs:31), held by worker-1`; None if nobody waits.
pub(crate) fn sentence(threads: &[ThreadNow]) -> Option<String> {
    // The wait that is most worth a line: that lasts longest, of those that somebody is to blame for.
    let waits = threads.iter().filter_map(|thread| Some((thread, thread.wait.as_ref()?)));
    let is_held = |wait: &WaitNow| matches!(wait.holder, Holder::Thread(_) | Holder::Readers(_));
    let (thread, wait) = waits.max_by_key(|(_, wait)| (is_held(wait), wait.since_ps))?;
    let held = if wait.holder == Holder::None { String::new() } else { format!(", held by {}", wait.holder) };
    let time = wait.since_ps.map_or_else(String::new, |_| format!(" {}", wait.time()));
    Some(format!("{} waits{time} for {} ({}, {}){held}", thread.name, wait.object, wait.operation, wait.source))
}

impl WaitNow {
    fn time(&self) -> String {
        self.since_ps.map_or_else(|| "?".into(), |time_ps| format_pico_time(time_ps).to_string().trim_start().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads() -> Vec<ThreadNow> {
        let wait = |operation, object: &str, holder, since_ps| {
            Some(WaitNow { operation, object: object.into(), holder, since_ps, source: "a.rs:1".into() })
        };
        let thread = |name: &str, wait| ThreadNow { name: name.into(), wait };
        vec![
            thread("worker-1", None),
            thread("worker-2", wait("read_lock", "demo/dictionary", Holder::Thread("worker-1".into()), Some(312_000_000))),
            thread("worker-10", wait("wait", "demo/queue_changed", Holder::None, Some(5_000_000_000_000))),
        ]
    }

    #[test]
    fn in_columns() {
        let expected = [
            " thread         waits  for                         held by    at",
            " worker-1           -",
            " worker-2   312.00 us  read_lock demo/dictionary   worker-1   a.rs:1",
            " worker-10     5.00 s  wait demo/queue_changed                a.rs:1",
        ];
        assert_eq!(view(&threads(), 3, 100).lines().collect::<Vec<_>>(), expected);
        assert_eq!(view(&threads(), 1, 30), " thread         waits  for   …\n worker-2   312.00 us  read_l…");
    }

    #[test]
    fn in_a_sentence() {
        let expected = "worker-2 waits 312.00 us for demo/dictionary (read_lock, a.rs:1), held by worker-1";
        assert_eq!(sentence(&threads()).as_deref(), Some(expected));
        assert_eq!(sentence(&threads()[..1]), None);
    }
}
