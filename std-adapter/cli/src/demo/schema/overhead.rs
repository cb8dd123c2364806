//! What recording costs: an estimate from the number of waits and the price of one.

use perfschema::Region;
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 50;
const PAIRS_PER_ROUND: u32 = 2000;

/// The price of one wait, measured now, with all switches as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    /// Locking and unlocking an instrumented mutex that nobody else uses.
    pub(super) recorded_ns: f64,
    /// The same of std's mutex.
    pub(super) plain_ns: f64,
}

impl Price {
    /// Measures it, on the calling thread. The waits are recorded like all others: read the tables before.
    pub(super) fn measure() -> Price {
        let recorded = perfschema::mutex!("wait/synch/mutex/demo/overhead", 0u64);
        let plain = std::sync::Mutex::new(0u64);
        let (mut recorded_ns, mut plain_ns) = (f64::MAX, f64::MAX);
        // By turns, so that a change of the processor's clock meets both; the best round of each was disturbed least.
        for _ in 0..ROUNDS {
            recorded_ns = recorded_ns.min(round_ns(|| *recorded.lock().expect("nobody panics here") += 1));
            plain_ns = plain_ns.min(round_ns(|| *black_box(&plain).lock().expect("nobody panics here") += 1));
        }
        Price { recorded_ns, plain_ns }
    }

    /// What instrumentation adds to one wait.
    pub(super) fn added_ns(&self) -> f64 {
        (self.recorded_ns - self.plain_ns).max(0.0)
    }
}

fn round_ns(mut pair: impl FnMut()) -> f64 {
    let begin = Instant::now();
    (0..PAIRS_PER_ROUND).for_each(|_| pair());
    begin.elapsed().as_nanos() as f64 / f64::from(PAIRS_PER_ROUND)
}

/// All waits that were counted. Where the region is shared, others may write any number there.
pub(super) fn wait_count(region: &Region<'_>) -> u64 {
    let mut count = 0_u64;
    region.scan(&perfschema::tables::EventsWaitsSummaryGlobalByEventName, |row| count = count.saturating_add(row.count_star));
    count
}

/// What so many waits cost, and which share of the CPU time that is.
pub(super) fn estimate(waits: u64, price: &Price, cpu: Duration) -> (Duration, f64) {
    let cost = Duration::from_secs_f64(waits as f64 * price.added_ns() / 1e9);
    (cost, cost.as_secs_f64() / cpu.as_secs_f64().max(f64::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfschema::core::timer::Timers;
    use perfschema::core::{Config, Identity, InstrumentName, Setting, Word, copy_from_bytes};

    #[test]
    fn numbers_that_cannot_be_are_summed() {
        let config = Config::SMALL;
        let words: Vec<Word> = (0..config.words()).map(|_| Word::new(0)).collect();
        let region = Region::create(&words, &config, &Identity::default(), &Timers::calibrate()).expect("it fits");
        for name in ["wait/synch/mutex/test/a", "wait/synch/mutex/test/b"] {
            region.register(InstrumentName::literal(name), Setting::ON).expect("there is room");
        }
        // The sums are behind the instruments: they are overwritten first.
        let counts = words.chunks(8).rev().map(|line| {
            copy_from_bytes(&[0xfe; 64][..8 * line.len()], line).expect("they are as many");
            wait_count(&region)
        });
        assert_eq!(counts.max(), Some(u64::MAX));
    }

    #[test]
    fn an_estimate_is_waits_times_price() {
        let price = Price { recorded_ns: 70.0, plain_ns: 20.0 };
        let (cost, share) = estimate(1_000_000, &price, Duration::from_secs(5));
        assert_eq!(cost, Duration::from_millis(50));
        assert!((share - 0.01).abs() < 1e-9);
        // A plain lock that was slower by chance costs nothing.
        assert_eq!(Price { recorded_ns: 19.0, plain_ns: 20.0 }.added_ns(), 0.0);
    }
}
