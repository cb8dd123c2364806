//! Timers: hostile samples are refused or bounded, honest ones give the true rate within the stated bound, and a
//! conversion is what exact arithmetic says.

use perfschema_core::timer::{Calibration, Conversion, ERROR_UNKNOWN, Sample, Source, calibrate_from_samples};

/// The fastest counter that a calibration accepts.
const HZ_MAX: u64 = 30_000_000_000;

/// Any bytes: first a frequency, a multiplier and three readings, then samples as they come; all of it once more as
/// the description of an honest clock and an honest counter.
///
/// # Panics
///
/// When a rate is not the one of the two tightest samples, an honest rate is further off than its bound, or a
/// conversion is not monotone or not exact to 1 part in 10⁹.
pub fn calibration(data: &[u8]) {
    let mut numbers = Numbers(data);
    let (hz, multiplier) = (numbers.any_size(), numbers.any_size());
    let ticks = [numbers.any_size(), numbers.any_size(), numbers.any_size()];
    check_frequency(hz, ticks);
    check_conversion(Conversion::from_multiplier(multiplier), ticks);
    assert_eq!(Conversion::from_multiplier(multiplier).multiplier(), multiplier);

    let samples: Vec<Sample> = numbers.0.chunks_exact(24).map(sample).collect();
    let (start, end) = samples.split_at(samples.len() / 2);
    check_any(start, end);
    check_any(end, start);
    check_honest(Numbers(data));
}

fn sample(bytes: &[u8]) -> Sample {
    let mut numbers = Numbers(bytes);
    Sample { ticks_before: numbers.next(), clock_ns: numbers.next(), ticks_after: numbers.next() }
}

/// Numbers read from bytes; zeros at their end.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> u64 {
        let (bytes, rest) = self.0.split_at(self.0.len().min(8));
        self.0 = rest;
        bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Small ones as often as large ones.
    fn any_size(&mut self) -> u64 {
        let (first, rest) = self.0.split_at(self.0.len().min(1));
        self.0 = rest;
        self.next() >> (first.first().unwrap_or(&0) % 64)
    }

    /// One of 0 to `max`.
    fn up_to(&mut self, max: u64) -> u64 {
        self.any_size().checked_rem(max + 1).unwrap_or(0)
    }
}

fn check_frequency(hz: u64, ticks: [u64; 3]) {
    let conversion = Conversion::from_frequency(hz);
    check_conversion(conversion, ticks);
    // multiplier × hz = 10¹² × 2²⁴, but for half a multiplier's unit; 0 Hz is a timer that does not exist.
    let wanted = if hz == 0 { 0 } else { 1_000_000_000_000 << Conversion::SHIFT };
    let off = (u128::from(conversion.multiplier()) * u128::from(hz)).abs_diff(wanted);
    assert!(2 * off <= u128::from(hz), "{hz} Hz: {conversion:?} is not the nearest");
    if (1..=HZ_MAX).contains(&hz) {
        for ticks in ticks {
            let exact_ps = u128::from(ticks) * 1_000_000_000_000 / u128::from(hz);
            let slack_ps = exact_ps / 1_000_000_000 + 2;
            let got_ps = u128::from(conversion.picoseconds(ticks));
            let largest = got_ps == u128::from(u64::MAX) && exact_ps + slack_ps >= got_ps;
            assert!(largest || got_ps.abs_diff(exact_ps) <= slack_ps, "{ticks} ticks of {hz} Hz: {got_ps} of {exact_ps} ps");
        }
    }
}

fn check_conversion(conversion: Conversion, mut ticks: [u64; 3]) {
    ticks.sort_unstable();
    let known = Calibration { source: Source::External, frequency_hz: 1, conversion, epoch_ticks: ticks[1], error_ppb: 0 };
    for [earlier, later] in [[ticks[0], ticks[1]], [ticks[1], ticks[2]]] {
        let naive = (u128::from(later) * u128::from(conversion.multiplier())) >> Conversion::SHIFT;
        assert_eq!(conversion.picoseconds(later), u64::try_from(naive).unwrap_or(u64::MAX), "{later} ticks, {conversion:?}");
        assert!(conversion.picoseconds(earlier) <= conversion.picoseconds(later));
        assert!(known.picoseconds_since_epoch(earlier) <= known.picoseconds_since_epoch(later));
    }
    assert_eq!(known.picoseconds_since_epoch(ticks[0]), 0);
}

/// Whatever the samples are, the rate is the one between the tightest of each end.
fn check_any(start: &[Sample], end: &[Sample]) {
    let Some(rate) = calibrate_from_samples(start, end) else { return };
    assert!((1..=HZ_MAX).contains(&rate.frequency_hz), "{rate:?}");
    let tightest = |samples: &[Sample]| {
        let mut best: Option<(u64, Sample)> = None;
        for sample in samples {
            if sample.ticks_before <= sample.ticks_after {
                let width = sample.ticks_after - sample.ticks_before;
                if best.is_none_or(|(least, _)| width < least) {
                    best = Some((width, *sample));
                }
            }
        }
        best.unwrap_or_else(|| panic!("{rate:?} from {samples:?}"))
    };
    let ((first_width, first), (last_width, last)) = (tightest(start), tightest(end));
    assert!(last.clock_ns > first.clock_ns, "{rate:?}");
    let ns = u128::from(last.clock_ns - first.clock_ns);
    let twice = |sample: Sample| u128::from(sample.ticks_before) + u128::from(sample.ticks_after);
    let twice_ticks = twice(last) - twice(first);
    // 2 × hz × ns = twice_ticks × 10⁹, but for half a hertz.
    assert!((u128::from(rate.frequency_hz) * 2 * ns).abs_diff(twice_ticks * 1_000_000_000) <= ns, "{rate:?}");
    // The bound owns up to at least the difference of the brackets.
    let uneven = u128::from(first_width.abs_diff(last_width)) * 2_000_000_000 / twice_ticks;
    assert!(u128::from(rate.error_ppb) >= uneven.min(u128::from(ERROR_UNKNOWN)), "{rate:?}");
}

/// Samples as an honest machine takes them: the rate is the true one, within the bound that comes with it.
fn check_honest(mut numbers: Numbers<'_>) {
    let mut machine = Machine::new(&mut numbers);
    let hz = machine.hz;
    let start = machine.samples(&mut numbers);
    let pause_ps = 4_000 * machine.step_ns.max(1_000) + numbers.up_to(10_000_000_000);
    machine.now_ps += pause_ps;
    let end = machine.samples(&mut numbers);

    let rate = calibrate_from_samples(&start, &end).unwrap_or_else(|| panic!("no rate of {hz} Hz by {machine:?}"));
    check_any(&start, &end);
    // Where a bound is that wide, its square is no longer small.
    if rate.error_ppb < 10_000_000 {
        // Interruptions of less than a tick do not show in a bracket's width.
        let one_tick_ppb = 1_000_000_000 * 1_000_000_000_000 / (u128::from(pause_ps) * u128::from(hz));
        let bound_ppb = u128::from(rate.error_ppb) * 51 / 50 + one_tick_ppb + 2;
        let off = u128::from(rate.frequency_hz.abs_diff(hz)) * 1_000_000_000;
        assert!(off <= bound_ppb * u128::from(hz), "{rate:?} of {hz} Hz by {machine:?}");
    }
}

/// A counter of a steady rate beside a clock that may be coarse.
#[derive(Debug)]
struct Machine {
    hz: u64,
    /// The clock's smallest advance.
    step_ns: u64,
    /// How long a reading takes until the clock is read, from then on, and between two readings. Of a coarse clock at
    /// least three fall into a step: calibration sees that it is coarse by its standing still.
    first_ps: u64,
    second_ps: u64,
    gap_ps: u64,
    now_ps: u64,
}

impl Machine {
    fn new(numbers: &mut Numbers<'_>) -> Machine {
        let step_ns = [1, 1_000, 30_518, 1_000_000][numbers.up_to(3) as usize];
        Machine {
            hz: 1_000_000 + numbers.up_to(HZ_MAX / 4),
            step_ns,
            first_ps: 1_000 + numbers.up_to(100_000),
            second_ps: 1_000 + numbers.up_to(100_000),
            gap_ps: if step_ns == 1 { numbers.up_to(1_000_000) } else { 0 },
            now_ps: numbers.up_to(1 << 50),
        }
    }

    fn ticks(&self) -> u64 {
        (u128::from(self.now_ps) * u128::from(self.hz) / 1_000_000_000_000) as u64
    }

    /// 64 samples. Any may be interrupted before or after the clock is read, but for three in a row.
    fn samples(&mut self, numbers: &mut Numbers<'_>) -> Vec<Sample> {
        let interrupted = numbers.next() & !(7 << numbers.up_to(61));
        (0..64)
            .map(|n| {
                let mut late_ps = || if interrupted >> n & 1 == 1 { numbers.up_to(1 << 24) } else { 0 };
                let (before_ps, after_ps) = (late_ps(), late_ps());
                let ticks_before = self.ticks();
                self.now_ps += self.first_ps + before_ps;
                let clock_ns = self.now_ps / 1_000 / self.step_ns * self.step_ns;
                self.now_ps += self.second_ps + after_ps;
                let ticks_after = self.ticks();
                self.now_ps += self.gap_ps;
                Sample { ticks_before, clock_ns, ticks_after }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn seeds() {
        super::calibration(b"");
        super::calibration(&[0xff; 700]);
        super::calibration(&[0x3f; 700]);
        for edge in [0_u64, 1, 2, 1_000_000_000, u64::MAX / 2, u64::MAX] {
            super::calibration(&edge.to_le_bytes().repeat(80));
        }
    }

    #[test]
    fn many_random_ones() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        };
        for n in 0..if cfg!(miri) { 5 } else { 5_000 } {
            let data: Vec<u8> = (0..n % 200).flat_map(|_| next()).collect();
            super::calibration(&data);
        }
    }
}
