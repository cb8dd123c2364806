//! std::thread and its mirror: the same story told with both.

mod common;

use common::{ROUNDS, Story};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The same program, with one module or the other.
macro_rules! story {
    ($name:ident, $($module:tt)*) => {
        fn $name() -> Story {
            use $($module)* as thread;
            let mut story = Story::default();
            let message = |payload: Box<dyn std::any::Any + Send>| {
                let text = payload.downcast_ref::<String>().cloned();
                text.or_else(|| payload.downcast_ref::<&str>().map(|text| text.to_string()))
            };

            // What a thread returns, and what it panics with.
            let handle = thread::spawn(|| thread::current().id());
            let id = handle.thread().id();
            story.tell((handle.thread().name(), format!("{handle:?}")));
            story.tell(handle.join().unwrap() == id);
            let handle: thread::JoinHandle<()> = thread::spawn(|| resume_unwind(Box::new("it panics")));
            while !handle.is_finished() {
                thread::yield_now();
            }
            story.tell(handle.join().map_err(message));

            // Names, sizes, and what cannot be.
            let builder = thread::Builder::new().name("worker".into()).stack_size(1 << 20);
            story.tell(&builder);
            let handle = builder.spawn(|| thread::current().name().map(String::from)).unwrap();
            story.tell((handle.thread().name().map(String::from), handle.join().unwrap()));
            let held = Arc::new(());
            let spawn = |builder: thread::Builder| {
                let held = held.clone();
                catch_unwind(AssertUnwindSafe(|| builder.spawn(move || drop(held)).map(|_| ())))
            };
            story.tell(spawn(thread::Builder::new().name("no\0name".into())).map_err(message).map(|result| result.is_ok()));
            story.tell(Arc::strong_count(&held));
            #[cfg(all(target_os = "linux", not(miri)))]
            {
                story.result(spawn(thread::Builder::new().stack_size(1 << 47)).unwrap());
                story.tell(Arc::strong_count(&held));
            }
            let mut count = 0;
            // SAFETY: it is joined before `count` is gone.
            let handle = unsafe { thread::Builder::new().spawn_unchecked(|| count += 1) };
            handle.unwrap().join().unwrap();
            story.tell(count);

            // A scope ends when its threads have, also those that nobody joins.
            let mut numbers = [1, 2, 3, 4];
            let (left, right) = numbers.split_at_mut(2);
            let sum = thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(5));
                    right[0] = 7;
                });
                let inner = scope.spawn(|| scope.spawn(|| 5).join().unwrap());
                let named = thread::Builder::new().name("scoped".into());
                let named = named.spawn_scoped(scope, || thread::current().name().map(String::from)).unwrap();
                let shown = (format!("{named:?}"), named.thread().name().map(String::from));
                while !named.is_finished() {
                    thread::yield_now();
                }
                (left.iter().sum::<i32>() + inner.join().unwrap(), shown, named.join().unwrap())
            });
            story.tell((sum, numbers));
            let panics = catch_unwind(|| thread::scope(|scope| _ = scope.spawn(|| resume_unwind(Box::new(1)))));
            story.tell(panics.map_err(message));
            let panics = catch_unwind(|| {
                thread::scope(|scope| {
                    let joined = scope.spawn(|| resume_unwind(Box::new("joined"))).join().map(|()| ()).map_err(message);
                    resume_unwind(Box::new(joined.unwrap_err().unwrap()))
                })
            });
            story.tell(panics.map(|()| ()).map_err(message));
            #[allow(deprecated, reason = "std has it")]
            thread::sleep_ms(1);

            // A token, and times.
            thread::current().unpark();
            thread::park();
            let parked = thread::spawn(thread::park);
            parked.thread().unpark();
            story.tell(parked.join().is_ok());
            let start = Instant::now();
            thread::park_timeout(Duration::from_millis(2));
            thread::sleep(Duration::from_millis(2));
            story.tell(start.elapsed() >= Duration::from_millis(2));
            story.tell((thread::panicking(), thread::available_parallelism().is_ok()));
            #[cfg(all(unix, not(miri)))]
            {
                use std::os::unix::thread::JoinHandleExt;
                let handle = thread::spawn(|| ());
                let thread = handle.as_pthread_t();
                story.tell(thread == handle.into_pthread_t());
                // SAFETY: it is ours to join now, and is joined once.
                story.tell(unsafe { libc::pthread_join(thread, std::ptr::null_mut()) });
            }
            story
        }
    };
}

story!(stds, std::thread);
story!(ours, perfschema::thread);

#[test]
fn the_story_is_the_same() {
    let expected = stds();
    for round in ROUNDS {
        #[cfg(feature = "instrument")]
        if *round == "with" {
            perfschema::builder().everything(true).environment(false).start().unwrap();
        }
        ours().is_that_of(&expected, 12, round);
    }
}
