//! Who waits for whom right now: `events_waits_current` joined with who holds what.

use super::{object_name, thread_names};
use crate::demo::waiting::{Holder, ThreadNow, WaitNow};
use perfschema::core::timer::{Clock, SystemClock};
use perfschema::{Region, tables};
use std::collections::HashMap;

/// What each thread does right now, in the order of their names; without the thread `except`.
pub(super) fn threads(region: &Region<'_>, except: Option<u64>) -> Vec<ThreadNow> {
    let names = thread_names(region);
    let mut waits = HashMap::new();
    let mut objects = HashMap::new();
    region.scan(&tables::EventsWaitsCurrent, |row| {
        if row.end_event_id.is_none() {
            let wait = WaitNow {
                operation: row.operation,
                object: object_name(row.event_name.as_str()).to_owned(),
                holder: Holder::None,
                since_ps: row.timer_start,
                source: row.source.map_or_else(String::new, |source| source.to_string()),
            };
            waits.insert(row.thread_id, wait);
            objects.insert(row.thread_id, row.object_instance_begin);
        }
    });
    // After the waits, so that none seems to have begun in the future.
    let timer = region.wait_timer();
    let now_ps = region.timer(timer).since_epoch_ps(SystemClock.ticks(timer));
    // Of many locks this takes long, and few are waited for, if any.
    let holders = if waits.is_empty() { HashMap::new() } else { holders(region, &names) };
    for (thread, wait) in &mut waits {
        wait.since_ps = wait.since_ps.map(|start_ps| now_ps.saturating_sub(start_ps));
        wait.holder = objects.get(thread).and_then(|object| holders.get(object)).cloned().unwrap_or_default();
    }
    let mut threads: Vec<(u64, String)> = names.into_iter().filter(|&(id, _)| Some(id) != except).collect();
    // worker-2 before worker-10; threads are numbered as they come, which is never the same.
    threads.sort_by(|(_, a), (_, b)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    threads.into_iter().map(|(id, name)| ThreadNow { name, wait: waits.remove(&id) }).collect()
}

/// Who holds each object that can be held, by its address.
fn holders(region: &Region<'_>, names: &HashMap<u64, String>) -> HashMap<u64, Holder> {
    let thread = |id: u64| Holder::Thread(names.get(&id).cloned().unwrap_or_else(|| format!("thread {id}")));
    let mut holders = HashMap::new();
    region.scan(&tables::MutexInstances, |row| {
        holders.insert(row.object_instance_begin, row.locked_by_thread_id.map_or(Holder::Nobody, thread));
    });
    region.scan(&tables::RwlockInstances, |row| {
        let holder = match (row.write_locked_by_thread_id, row.read_locked_by_count) {
            (Some(id), _) => thread(id),
            (None, 0) => Holder::Nobody,
            (None, count) => Holder::Readers(count),
        };
        holders.insert(row.object_instance_begin, holder);
    });
    holders
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfschema::sync::{Condvar, Mutex, RwLock};
    use std::thread;
    use std::time::{Duration, Instant};

    const MINUTE_PS: u64 = 60_000_000_000_000;

    /// Waits until the threads that wait are these, each with what it waits for and who holds that.
    #[track_caller]
    fn check(region: &Region<'_>, expected: &[(&str, &str, Holder)]) {
        let begin = Instant::now();
        loop {
            let threads = threads(region, perfschema::thread::thread_id());
            let waits: Vec<_> = threads
                .iter()
                .filter_map(|thread| Some((thread.name.as_str(), thread.wait.as_ref()?)))
                .map(|(name, wait)| (name, format!("{} {}", wait.operation, wait.object), wait.holder.clone()))
                .collect();
            let found: Vec<_> = waits.iter().map(|(name, what, holder)| (*name, what.as_str(), holder.clone())).collect();
            if found == expected {
                for wait in threads.iter().filter_map(|thread| thread.wait.as_ref()) {
                    assert!(wait.source.starts_with("live.rs:"), "{wait:?}");
                    assert!(wait.since_ps.is_some_and(|since_ps| since_ps < MINUTE_PS), "{wait:?}");
                }
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "{found:?}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn every_wait_is_seen_with_its_holder() {
        let region = perfschema::start().unwrap().region();
        let mutex: &Mutex<bool> = &perfschema::mutex!("wait/synch/mutex/test/mutex", false);
        let rwlock: &RwLock<()> = &perfschema::rwlock!("wait/synch/rwlock/test/rwlock", ());
        let changed: &Condvar = &perfschema::condvar!("wait/synch/cond/test/changed");
        let id = perfschema::thread::thread_id().unwrap();
        let me = Holder::Thread(thread_names(region).remove(&id).unwrap());
        thread::scope(|scope| {
            let spawn = |name: &str, wait: fn(&Mutex<bool>, &RwLock<()>, &Condvar)| {
                thread::Builder::new().name(name.into()).spawn_scoped(scope, move || wait(mutex, rwlock, changed)).unwrap();
            };
            let held = mutex.lock().unwrap();
            spawn("a", |mutex, _, _| drop(mutex.lock().unwrap()));
            check(region, &[("a", "lock test/mutex", me.clone())]);
            let read = [rwlock.read().unwrap(), rwlock.read().unwrap()];
            spawn("b", |_, rwlock, _| drop(rwlock.write().unwrap()));
            check(region, &[("a", "lock test/mutex", me.clone()), ("b", "write_lock test/rwlock", Holder::Readers(2))]);
            drop(held);
            drop(read);
            check(region, &[]);

            let write = rwlock.write().unwrap();
            spawn("c", |_, rwlock, _| drop(rwlock.read().unwrap()));
            spawn("d", |mutex, _, changed| drop(changed.wait_while(mutex.lock().unwrap(), |go| !*go).unwrap()));
            check(region, &[("c", "read_lock test/rwlock", me.clone()), ("d", "wait test/changed", Holder::None)]);
            // Who waits for a condition does not hold its mutex.
            *mutex.lock().unwrap() = true;
            changed.notify_all();
            drop(write);
            check(region, &[]);
        });
    }
}
