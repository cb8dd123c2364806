//! The work queue: a mutex and a condition variable.

use perfschema::sync::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;

/// Jobs to be done by whoever comes first.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    /// There is a job, or there will never be another one.
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    jobs: VecDeque<T>,
    closed: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Queue<T> {
        let state = State { jobs: VecDeque::new(), closed: false };
        Queue {
            state: perfschema::mutex!("wait/synch/mutex/demo/queue", state),
            changed: perfschema::condvar!("wait/synch/cond/demo/queue_changed"),
        }
    }

    /// Adds jobs at the end.
    pub(crate) fn put(&self, jobs: impl IntoIterator<Item = T>) {
        self.lock().jobs.extend(jobs);
        self.changed.notify_all();
    }

    /// The first job, once there is one; None after the queue was closed.
    pub(crate) fn take(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            state = self.changed.wait(state).expect("no thread panics while it holds the queue");
        }
    }

    /// Lets everybody go. Jobs that nobody took are never done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().expect("no thread panics while it holds the queue")
    }
}

/// [Closes](Queue::close) the queue when it is dropped.
pub(crate) struct CloseOnDrop<'q, T>(pub(crate) &'q Queue<T>);

impl<T> Drop for CloseOnDrop<'_, T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn each_job_is_taken_once() {
        let queue = Queue::new();
        let mut taken = thread::scope(|scope| {
            let takers: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| std::iter::from_fn(|| queue.take()).take_while(|&job| job != 0).collect::<Vec<_>>()))
                .collect();
            queue.put(1..=500);
            queue.put(501..=1000);
            // One end for each.
            queue.put([0; 4]);
            takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect::<Vec<_>>()
        });
        taken.sort_unstable();
        assert_eq!(taken, (1..=1000).collect::<Vec<_>>());
    }

    #[test]
    fn closing_wakes_everybody() {
        let queue = Queue::<u32>::new();
        thread::scope(|scope| {
            let takers: Vec<_> = (0..4).map(|_| scope.spawn(|| queue.take())).collect();
            queue.close();
            for taker in takers {
                assert_eq!(taker.join().unwrap(), None);
            }
        });
        queue.put([1]);
        assert_eq!(queue.take(), None);
    }
}
