//! Samples of clocks that step, stand still or lie.

use super::*;
use crate::{Clock, SystemClock, difference, external};
use std::vec::Vec;
use std::{thread, time};

/// A counter of `hz` beside an exact clock, each reading `step_ns` after the one before.
fn fake(hz: u64, step_ns: u64) -> impl FnMut() -> Sample {
    let mut ns = 123_456_789_u64;
    let ticks = move |ns| external::scale(ns, 1_000_000_000, hz);
    move || {
        ns += 3 * step_ns;
        Sample { ticks_before: ticks(ns - 2 * step_ns), clock_ns: ns - step_ns, ticks_after: ticks(ns) }
    }
}

#[test]
#[cfg_attr(miri, ignore = "safe arithmetic on 100 000 samples")]
fn an_exact_counter_is_found_within_the_stated_bound() {
    for hz in [1_000_000, 10_000_000, 24_000_000, 1_000_000_000, 2_445_430_164, 5_999_999_999, 29_999_999_999] {
        for step_ns in [9, 25, 100, 333] {
            let rate = measure_rate(fake(hz, step_ns), INTERVAL_NS).expect("both run");
            let apart_ppb = parts_in_a_billion(u128::from(rate.frequency_hz.abs_diff(hz)), u128::from(hz));
            assert!(apart_ppb <= u128::from(rate.error_ppb), "{hz} Hz: {rate:?}");
            assert!(hz < 1_000_000_000 || rate.error_ppb <= 1_000, "{hz} Hz: {rate:?}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "safe arithmetic on 100 000 samples")]
fn an_interrupted_bracket_is_passed_over() {
    let mut regular = fake(2_600_000_000, 20);
    let mut count = 0_u64;
    let noisy = move || {
        count += 1;
        let sample = regular();
        // Nine in ten were interrupted between the clock and the second reading.
        let late = if count % 10 == 3 { 0 } else { 1_000 + count % 777 };
        Sample { ticks_after: sample.ticks_after + late, ..sample }
    };
    let rate = measure_rate(noisy, INTERVAL_NS).expect("both run");
    assert!(rate.frequency_hz.abs_diff(2_600_000_000) <= 2_600, "{rate:?}");
    assert!(rate.error_ppb <= 1_000, "{rate:?}");
}

#[test]
fn hostile_clocks_end_without_an_answer() {
    type NthSample = fn(u64) -> Sample;
    let hostile: [(&str, NthSample); 8] = [
        ("all zero", |_| Sample::default()),
        ("clock stands still", |n| Sample { ticks_before: n * 100, clock_ns: 7, ticks_after: n * 100 + 50 }),
        ("counter stands still", |n| Sample { ticks_before: 9, clock_ns: n * 50, ticks_after: 9 }),
        ("clock runs backward", |n| Sample { ticks_before: n * 100, clock_ns: u64::MAX - n * 50, ticks_after: n * 100 + 50 }),
        ("counter runs backward", |n| Sample {
            ticks_before: u64::MAX - n * 100,
            clock_ns: n * 50,
            ticks_after: u64::MAX - n * 100,
        }),
        ("brackets turned round", |n| Sample { ticks_before: n * 100 + 50, clock_ns: n * 50, ticks_after: n * 100 }),
        ("counter is impossibly fast", |n| Sample { ticks_before: n << 40, clock_ns: n * 50, ticks_after: (n << 40) + 1 }),
        ("clock jumps to its end", |n| Sample { ticks_before: n, clock_ns: if n > 70 { u64::MAX } else { n }, ticks_after: n }),
    ];
    for (name, sample) in hostile {
        let mut count = 0;
        let next = || {
            count += 1;
            sample(count)
        };
        assert_eq!(measure_rate(next, INTERVAL_NS), None, "{name}");
        let most = PAUSE_SAMPLE_COUNT_MAX.max(STEP_SAMPLE_COUNT_MAX);
        assert!(count <= u64::from(most) + 2 * SAMPLE_COUNT as u64, "{name}: {count} samples");
    }
}

#[test]
fn any_numbers_are_fine() {
    // The extremes in every place, which is where arithmetic breaks; the fuzz target does the rest.
    let edges = [0, 1, 2, 1_000_000_000, u64::MAX / 2, u64::MAX - 1, u64::MAX];
    let mut all = Vec::new();
    for ticks_before in edges {
        for clock_ns in edges {
            for ticks_after in edges {
                all.push([Sample { ticks_before, clock_ns, ticks_after }]);
            }
        }
    }
    let stride = if cfg!(miri) { 29 } else { 1 };
    for start in all.iter().step_by(stride) {
        for end in all.iter().step_by(stride) {
            if let Some(rate) = calibrate_from_samples(start, end) {
                assert!(rate.frequency_hz > 0 && u128::from(rate.frequency_hz) <= HZ_MAX);
            }
        }
    }
    assert_eq!(calibrate_from_samples(&[], &[]), None);
    assert_eq!(calibrate_from_samples(&all[0], &[]), None);
}

#[test]
#[cfg_attr(miri, ignore = "safe arithmetic on 100 000 samples")]
fn a_coarse_clock_widens_the_bound() {
    // Of a few readings each.
    for step_ns in [150, 250, 400] {
        let mut exact = fake(1_000_000_000, 20);
        let coarse = move || {
            let sample = exact();
            Sample { clock_ns: sample.clock_ns / step_ns * step_ns, ..sample }
        };
        let rate = measure_rate(coarse, INTERVAL_NS).expect("both run");
        let apart_ppb = rate.frequency_hz.abs_diff(1_000_000_000);
        assert!(apart_ppb <= u64::from(rate.error_ppb), "{rate:?}");
        assert!(u64::from(rate.error_ppb) >= step_ns * 1_000_000_000 / INTERVAL_NS, "{rate:?}");
    }
}

/// A kernel's clock, which its interrupt moves on: where in a step it is read first, is chance.
#[test]
#[cfg_attr(miri, ignore = "safe arithmetic on 100 000 samples")]
fn a_clock_of_long_steps_is_measured_by_its_steps() {
    let hz = 2_596_138_000;
    for clock_hz in [100, 250, 1_000, 10_000, 32_768, 1_000_000] {
        for phase in 0..7 {
            let period_ns = 1_000_000_000 / clock_hz;
            let mut exact = fake(hz, 20);
            let coarse = move || {
                let sample = exact();
                Sample { clock_ns: (sample.clock_ns + phase * period_ns / 7) / period_ns * period_ns, ..sample }
            };
            let rate = measure_rate(coarse, INTERVAL_NS).expect("both run");
            let apart_ppb = parts_in_a_billion(u128::from(rate.frequency_hz.abs_diff(hz)), u128::from(hz));
            assert!(apart_ppb <= u128::from(rate.error_ppb), "{clock_hz} Hz: {rate:?}");
            assert!(rate.error_ppb <= 60_000, "{clock_hz} Hz: {rate:?}");
        }
    }
}

/// Reading a clock can take longer than its step: then it never stands still, and looks fine.
#[test]
#[cfg_attr(miri, ignore = "safe arithmetic on 100 000 samples")]
fn a_step_shorter_than_a_reading_widens_the_bound() {
    // HPET and ACPI PM timer, as Linux reads them where it does not trust the TSC; and 1 ns, slow to read.
    for (step_fs, read_ns, bound_ppb_max) in [
        (69_841_279_u64, 1_200, 50_000),
        (279_365_115, 1_500, 150_000),
        (279_365_115, 4_000, 150_000),
        (1_000_000, 1_200, 20_000),
    ] {
        for seed in 1..=200_u64 {
            let hz = 2_445_430_164;
            let mut state = seed << 32 | 0x9e37_79b9;
            let mut random_below = |bound: u64| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state % bound
            };
            let mut ps = random_below(1 << 50);
            let sample = || {
                let ticks = |ps: u64| external::scale(ps, 1_000_000_000_000, hz);
                let ticks_before = ticks(ps);
                // The device answers somewhat sooner or later; the rest of the call takes its time.
                ps += read_ns * 500 + random_below(80_000);
                let steps = u128::from(ps) * 1_000 / u128::from(step_fs);
                let clock_ns = (steps * u128::from(step_fs) / 1_000_000) as u64;
                ps += read_ns * 500;
                let ticks_after = ticks(ps);
                ps += 20_000;
                Sample { ticks_before, clock_ns, ticks_after }
            };
            let rate = measure_rate(sample, INTERVAL_NS).expect("both run");
            let apart_ppb = parts_in_a_billion(u128::from(rate.frequency_hz.abs_diff(hz)), u128::from(hz));
            assert!(apart_ppb <= u128::from(rate.error_ppb), "step {step_fs} fs, off by {apart_ppb} ppb: {rate:?}");
            assert!(rate.error_ppb <= bound_ppb_max, "step {step_fs} fs: {rate:?}");
        }
    }
}

#[test]
fn the_best_known_frequency_is_settled_on() {
    let rate = |frequency_hz, error_ppb| Some(Estimate { frequency_hz, error_ppb });
    let mhz_24 = 24_000_000;
    // A good measurement wins over anything stated.
    assert_eq!(settle(rate(2_600_000_123, 300), 2_600_000_000, true), rate(2_600_000_123, 300));
    // A poor one bears out what is stated: the bound is its own and the distance.
    assert_eq!(settle(rate(mhz_24 + 120, 10_000), mhz_24, true), rate(mhz_24, 15_000));
    // Or shows that it is not so: steered by 100 parts in 10⁶, or nonsense.
    assert_eq!(settle(rate(mhz_24 + 2_400, 10_000), mhz_24, true), rate(mhz_24 + 2_400, 10_000));
    assert_eq!(settle(rate(mhz_24, 10_000), 1_000_000, true), rate(mhz_24, 10_000));
    assert_eq!(settle(rate(mhz_24, 10_000), 1, true), rate(mhz_24, 10_000));
    assert_eq!(settle(rate(10_000_000, 40_000), 0, true), rate(10_000_000, 40_000));
    // Nothing measured.
    assert_eq!(settle(None, mhz_24, true), rate(mhz_24, ERROR_UNKNOWN));
    assert_eq!(settle(None, 0, true), None);
    assert_eq!(settle(None, 0, false), rate(ASSUMED_HZ, ERROR_UNKNOWN));
}

#[test]
fn calibration_agrees_with_the_system_for_50_ms() {
    let timers = Timers::calibrate();
    let cycle = timers.get(TimerName::Cycle);
    let started = time::Instant::now();
    let start = SystemClock.ticks(TimerName::Cycle);
    thread::sleep(time::Duration::from_millis(50));
    let end = SystemClock.ticks(TimerName::Cycle);
    let passed_ps = started.elapsed().as_nanos() as u64 * 1_000;
    let got_ps = cycle.conversion.picoseconds(difference(start, end));
    // Loose: the thread may be interrupted between the readings. The CPU may be busy; time is not.
    assert!(got_ps <= passed_ps + passed_ps / 1_000, "{got_ps} of {passed_ps} ps by {cycle:?}");
    assert!(got_ps >= passed_ps / 2, "{got_ps} of {passed_ps} ps by {cycle:?}");
}

#[test]
fn a_counter_that_is_not_used_is_not_read() {
    assert_eq!(Epoch::now(false).counter_ticks, 0);
    assert!(!arch::PRESENT || Epoch::now(true).counter_ticks > 0);
}

#[test]
fn all_epochs_are_one_moment() {
    let timers = Timers::calibrate();
    // Interrupted between two readings, the two are as far apart as the interruption was long: try again.
    let apart = |coarse: TimerName| {
        let read = |timer| timers.get(timer).picoseconds_since_epoch(SystemClock.ticks(timer));
        let before = read(TimerName::Cycle);
        let now = read(coarse);
        let after = read(TimerName::Cycle);
        let resolution_ps = timers.get(coarse).conversion.picoseconds(1);
        // Twice the resolution, and 10 µs for the readings themselves and the rates' errors.
        let slack_ps = 2 * resolution_ps + 10_000_000;
        now + slack_ps >= before && now <= after + slack_ps
    };
    for coarse in TimerName::ALL {
        assert!((0..100).any(|_| apart(coarse)), "{coarse} does not share the epoch of CYCLE");
    }
}

#[test]
fn every_timer_is_backed_and_says_by_what() {
    let timers = Timers::calibrate();
    for timer in TimerName::ALL {
        let known = timers.get(timer);
        assert_ne!(known.source, Source::None, "{timer}");
        let ideal = Conversion::from_frequency(known.frequency_hz).multiplier();
        // A whole frequency is exact; TICK's may be rounded.
        let slack = if timer == TimerName::Tick { ideal / 100 } else { 0 };
        assert!(known.conversion.multiplier().abs_diff(ideal) <= slack, "{timer}: {known:?}");
    }
    assert_eq!(timers.get(TimerName::Nanosecond).frequency_hz, 1_000_000_000);
    assert_eq!(timers.get(TimerName::Microsecond).frequency_hz, 1_000_000);
    assert_eq!(timers.get(TimerName::Millisecond).frequency_hz, 1_000);
    assert_eq!(timers.get(TimerName::Nanosecond).error_ppb, 0);
}

#[test]
fn a_second_calibration_keeps_the_source() {
    let (first, second) = (Timers::calibrate(), Timers::calibrate());
    for timer in TimerName::ALL {
        assert_eq!(first.get(timer).source, second.get(timer).source);
        assert!(first.get(timer).epoch_ticks <= second.get(timer).epoch_ticks, "{timer}");
    }
}
