//! Threads on cores of their own. Schedulers put threads that live for milliseconds on one core, and then nothing is at the same moment.

/// Runs `work` on the core of this number, where the system can do that.
pub(crate) fn on_core<R>(core: usize, work: impl FnOnce() -> R) -> R {
    #[cfg(target_os = "linux")]
    let before = {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let before = sched_getaffinity(None).ok();
        let mut one = CpuSet::new();
        one.set(core);
        // If it is refused, the scheduler decides.
        let _ = sched_setaffinity(None, &one);
        before
    };
    #[cfg(not(target_os = "linux"))]
    let _ = core;
    let result = work();
    #[cfg(target_os = "linux")]
    if let Some(before) = before {
        let _ = rustix::thread::sched_setaffinity(None, &before);
    }
    result
}
