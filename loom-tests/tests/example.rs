//! How a user models code that embeds the core: public API only. A queue whose lock is instrumented; the model is about the queue.
#![cfg(perfschema_loom)]

use loom::sync::{Condvar, Mutex};
use perfschema_core::timer::{MockClock, TimerName};
use perfschema_core::{
    Actor, ActorIdentity, Config, Held, Identity, InstrumentName, Operation, Region, Setting, Size, WaitStart, Word,
};
use std::sync::Arc;

const CONFIG: Config =
    Config::EMPTY.with(Size::MaxThreadInstances, 2).with(Size::MaxMutexClasses, 1).with(Size::EventsWaitsHistorySize, 2);
const QUEUE: InstrumentName<'static> = InstrumentName::literal("wait/synch/mutex/app/queue");

/// The user's code: a queue of numbers, every lock of it recorded.
struct Queue {
    numbers: Mutex<Vec<u64>>,
    filled: Condvar,
}

impl Queue {
    fn push(&self, actor: &Actor<'_>, clock: &MockClock, number: u64) {
        let region = actor.region();
        let class = region.find_class(QUEUE.as_str()).expect("registered before the threads started");
        let wait = actor.begin(clock, region.switches(class), class, &WaitStart::new(Operation::Lock));
        let mut numbers = self.numbers.lock().unwrap();
        clock.advance(TimerName::Cycle, 10);
        actor.end(clock, wait, Held::None);
        numbers.push(number);
        self.filled.notify_one();
    }

    fn pop(&self) -> u64 {
        let mut numbers = self.numbers.lock().unwrap();
        loop {
            match numbers.pop() {
                Some(number) => return number,
                None => numbers = self.filled.wait(numbers).unwrap(),
            }
        }
    }
}

#[test]
fn what_is_pushed_is_popped() {
    loom::model(|| {
        // The region is no part of what is modelled, so nothing of it is watched.
        let words: Arc<Vec<Word>> = Arc::new((0..CONFIG.words()).map(|_| Word::unwatched(0)).collect());
        let clock = MockClock::new();
        let region = Region::create(&words, &CONFIG, &Identity::default(), &clock.timers()).expect("the memory is large enough");
        let class = region.register(QUEUE, Setting::ON).expect("there is room");
        region.enable_everything();

        let queue = Arc::new(Queue { numbers: Mutex::new(Vec::new()), filled: Condvar::new() });
        let pushing = {
            let (words, queue) = (words.clone(), queue.clone());
            loom::thread::spawn(move || {
                let region = Region::open(&words).expect("made above");
                let actor = Actor::attach(&region, &ActorIdentity::default());
                queue.push(&actor, &MockClock::new(), 7);
                actor.detach();
            })
        };
        assert_eq!(queue.pop(), 7);
        pushing.join().unwrap();
        assert_eq!(region.summary_by_event_name(class).count, 1);
    });
}
