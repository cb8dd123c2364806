use super::*;

/// Beside sums that are made anew each time: of waits that take no time, too, before and after others, timed or not, and after a restart.
#[test]
fn a_summary_beside_a_naive_one() {
    let waits = [Some(0), Some(7), Some(3), None, Some(u64::MAX), Some(8), Some(0), Some(u64::MAX - 1)];
    let longest = if cfg!(miri) { 2 } else { 4 };
    for length in 0..=longest {
        for number in 0..waits.len().pow(length) {
            let chosen = (0..length).map(|place| waits[number / waits.len().pow(place) % waits.len()]);
            let stat: StatWords = Default::default();
            let alone: [Word; 5] = Default::default();
            // What was there before, and left half counted.
            let versioned = Versioned::of(&stat);
            versioned.begin();
            versioned.count(Some(5));
            versioned.forget();
            let mut naive = Summary::default();
            for wait_ps in chosen {
                let sums = begin(&stat, Epochs(0), Unit::Picoseconds, || ());
                match wait_ps {
                    Some(wait_ps) => sums.count(wait_ps, None),
                    None => sums.count_none(),
                }
                assert!(!stat[word::VERSION].get().is_multiple_of(2));
                sums.publish();
                Owned(&alone).count(wait_ps);
                naive.add(&match wait_ps {
                    Some(wait) => Summary { count: 1, count_timed: 1, sum_ps: wait, min_ps: wait, max_ps: wait },
                    None => Summary { count: 1, ..Summary::default() },
                });
                assert_eq!(versioned.settle(&Patience::default(), |sums| sums), (naive, true));
                assert_eq!(Owned(&alone).read(), naive);
            }
        }
    }
}

/// 400 ps each.
const TICKS: Conversion = Conversion::from_multiplier(400 << Conversion::SHIFT);

/// The same in ticks: the sums come round as those of picoseconds do, what is too long is the longest, and what went backward took no time.
#[test]
fn a_summary_in_ticks_beside_a_naive_one() {
    let longest = u64::MAX >> 1;
    let waits =
        [Some((0, 0)), Some((7, 7)), Some((3, 3)), None, Some((longest, longest)), Some((u64::MAX, 0)), Some((1 << 63, 0))];
    for length in 0..=if cfg!(miri) { 2 } else { 4 } {
        for number in 0..waits.len().pow(length) {
            let (stat, carry) = (StatWords::default(), CarryWords::default());
            let (mut naive, mut all) = (Summary::default(), 0_u128);
            for place in 0..length {
                let wait = waits[number / waits.len().pow(place) % waits.len()];
                match wait {
                    None => count_untimed(&stat),
                    Some((difference, ticks)) => {
                        let sums = begin_current(&stat);
                        assert_eq!(sums.count_ticks(difference), ticks);
                        sums.publish();
                        all += u128::from(ticks);
                    }
                }
                naive.add(&match wait.map(|(_, ticks)| ticks.saturating_mul(400)) {
                    Some(ps) => Summary { count: 1, count_timed: 1, sum_ps: 0, min_ps: ps, max_ps: ps },
                    None => Summary { count: 1, ..Summary::default() },
                });
                naive.sum_ps = (all * 400) as u64;
                let (snapshot, ()) = read(&Patience::default(), &stat, &carry, |_| ());
                assert_eq!((snapshot.view(View::Global, Epochs(0), || TICKS), snapshot.settled), (naive, true));
            }
        }
    }
}

/// Whatever is truncated between them: what was counted in ticks and what in picoseconds is one sum, and none of either is lost.
#[test]
fn ticks_and_picoseconds_in_one_summary() {
    let truncations: [&[View]; 5] =
        [&[], &[View::Thread], &[View::Global], &[View::Thread, View::Global], &[View::Global, View::Thread, View::Thread]];
    let timers = [Some(Unit::Ticks), Some(Unit::Picoseconds), None];
    let steps = truncations.len() * timers.len();
    for number in 0..steps.pow(if cfg!(miri) { 2 } else { 4 }) {
        let (stat, carry) = (StatWords::default(), CarryWords::default());
        let mut epochs = Epochs(5 << 32 | 3);
        let mut naive = [Summary::default(); 2];
        let mut left = number;
        for event in 1..=4_u64 {
            let (truncated, timer) = (truncations[left % truncations.len()], timers[left / truncations.len() % timers.len()]);
            left /= steps;
            for &view in truncated {
                epochs = epochs.next(view);
                naive[view as usize - 1] = Summary::default();
            }
            // The longest comes first and last, and the shortest between them, of odd picoseconds where they may be.
            let ticks = 10 + event.abs_diff(3) * 7;
            let wait_ps = if timer == Some(Unit::Ticks) { ticks * 400 } else { ticks * 400 + 1 };
            let unit = timer.unwrap_or(Unit::Ticks);
            let sums = begin(&stat, epochs, unit, || honour(&stat, &carry, &[], epochs, unit, &TICKS));
            match timer {
                Some(unit) => sums.count(wait_ps, (unit == Unit::Ticks).then_some(ticks)),
                None => sums.count_none(),
            }
            sums.publish();
            let one = match timer {
                Some(_) => Summary { count: 1, count_timed: 1, sum_ps: wait_ps, min_ps: wait_ps, max_ps: wait_ps },
                None => Summary { count: 1, ..Summary::default() },
            };
            naive.iter_mut().for_each(|sum| sum.add(&one));
            let (snapshot, ()) = read(&Patience::default(), &stat, &carry, |_| ());
            let shown = [View::Thread, View::Global].map(|view| snapshot.view(view, epochs, || TICKS));
            assert_eq!(shown, naive, "event {event} of {number}");
            // Who has the counter need not ask again, unless there are picoseconds.
            let only_ticks = parts_unit(&stat) == Unit::Ticks;
            assert!(is_current(&stat, epochs) == only_ticks);
            assert!(only_ticks || timer == Some(Unit::Picoseconds) || naive.iter().any(|sum| sum.count_timed > 0));
        }
    }
}

fn parts_unit(stat: &StatWords) -> Unit {
    Epochs(stat[word::EPOCHS].get()).unit()
}

/// As after a truncation, or in a child that was forked there, also one whose memory is its own: the event that is being counted is all that
/// there is. A child may not know of it, but what comes then is whole, and counts once.
#[test]
fn sums_that_begin_anew_in_the_middle_of_an_event() {
    let one = |wait_ps| Summary { count: 1, count_timed: 1, sum_ps: wait_ps, min_ps: wait_ps, max_ps: wait_ps };
    fn event(versioned: Versioned<'_>, wait_ps: u64, middle: fn(Versioned<'_>), publish: fn(Versioned<'_>)) {
        versioned.begin();
        middle(versioned);
        versioned.count(Some(wait_ps));
        publish(versioned);
    }
    let own_memory = |versioned: Versioned<'_>| {
        versioned.version.set(0);
        versioned.forget();
    };
    type Step = fn(Versioned<'_>);
    let middles: [(Step, Step); 3] = [
        (|sums| sums.restart(), |sums| sums.publish()),
        (|sums| sums.forget(), |sums| sums.publish_forgotten()),
        (own_memory, |sums| sums.publish_forgotten()),
    ];
    for (middle, publish) in middles {
        let stat: StatWords = Default::default();
        let versioned = Versioned::of(&stat);
        [10, 20].into_iter().for_each(|wait_ps| event(versioned, wait_ps, |_| (), publish));
        event(versioned, 3, middle, publish);
        assert_eq!(versioned.settle(&Patience::default(), |sums| sums), (one(3), true));
        event(versioned, 5, |_| (), publish);
        let mut both = one(3);
        both.add(&one(5));
        assert_eq!(versioned.settle(&Patience::default(), |sums| sums), (both, true));
    }
}

/// The one that is truncated shows nothing, the other one all, up to as many as a carry can count; and what is not the carry's stays.
#[test]
fn a_carry_of_any_counts() {
    let now = Epochs(7 << 32 | 9).with(Unit::Picoseconds);
    let unit = Unit::Picoseconds;
    for (view, other) in [(View::Thread, View::Global), (View::Global, View::Thread)] {
        for (timed, untimed) in
            [(0, 0), (1, 2), (0, 0x1_2345), ((1 << 47) - 1, (1 << 48) - 1), (1 << 47, 1 << 48), (1 << 60, 1 << 60)]
        {
            let (stat, carry) = (StatWords::default(), CarryWords::default());
            stat[word::EPOCHS].set(now.0);
            stat[word::HISTOGRAM].set(0x8765_4321);
            stat[word::VERSION].set(timed << 1);
            let sums = Versioned::of(&stat).sums;
            sums.0[own::UNTIMED].set(untimed);
            if timed > 0 {
                sums.0[own::SUM].set(u64::MAX);
                sums.widen(3, true);
                sums.widen(u64::MAX, false);
            }
            let kept = if timed > 0 { (u64::MAX, 3, u64::MAX) } else { (0, 0, 0) };
            let shows = |epochs, view| {
                let (snapshot, ()) = read(&Patience::default(), &stat, &carry, |_| ());
                assert_eq!(snapshot.histogram(), 0x8765_4321);
                let sum = snapshot.view(view, epochs, || unreachable!("these are picoseconds"));
                (sum.count_timed, sum.count - sum.count_timed, (sum.sum_ps, sum.min_ps, sum.max_ps))
            };
            assert_eq!(shows(now, view), (timed, untimed, kept));
            let [first, second] = [now.next(view), now.next(view).next(view)];
            // The second time there is nothing but a carry.
            for epochs in [first, second] {
                honour(&stat, &carry, &[], epochs, unit, &TICKS);
                assert_eq!(shows(epochs, view), (0, 0, (0, 0, 0)));
                assert_eq!(shows(epochs, other), (timed.min((1 << 47) - 1), untimed.min((1 << 48) - 1), kept));
            }
            honour(&stat, &carry, &[], second.next(other), unit, &TICKS);
            assert_eq!([View::Thread, View::Global].map(|view| shows(second.next(other), view)), [(0, 0, (0, 0, 0)); 2]);
        }
    }
}

/// Its owner was killed between the two words of an untimed event, before anything was timed.
#[test]
fn a_count_is_never_less_than_nothing() {
    let stat: StatWords = Default::default();
    let versioned = Versioned::of(&stat);
    versioned.begin();
    versioned.count(None);
    let (sums, settled) = versioned.settle(&Patience::default(), |sums| sums);
    assert_eq!((sums.count, sums.count_timed, settled), (1, 0, false));
}

/// How many looks it takes until the words count as whole, or are given up; before each of them the writer does something.
#[track_caller]
fn check(mut writer: impl FnMut(&Word, u32), expected: (u32, bool)) {
    let version = Word::new(0);
    let mut looks = 0;
    writer(&version, looks);
    let (_, settled) = settle(&Patience::default(), &version, |_| {
        looks += 1;
        writer(&version, looks);
    });
    assert_eq!((looks, settled), expected);
}

/// Of a damaged region each summary may be one that never settles.
#[test]
fn patience_ends_and_comes_back() {
    let patience = Patience::default();
    let looks_at = |version: u64| {
        let mut looks = 0;
        settle(&patience, &Word::new(version), |_| looks += 1);
        looks
    };
    let all = LOOKS_AT_ONE_WRITE.min(LOOKS);
    for _ in 0..2 {
        (0..Patience::WAITS).for_each(|_| assert_eq!(looks_at(1), all));
        (0..1000).for_each(|_| assert_eq!(looks_at(1), 1));
        for _ in 0..3 {
            (0..Patience::WHOLE).for_each(|_| assert_eq!(looks_at(2), 1));
            assert_eq!([looks_at(1), looks_at(1)], [all, 1]);
        }
        patience.renew();
    }
}

#[test]
fn nobody_writes() {
    check(|_, _| (), (1, true));
    check(|version, _| version.set(42), (1, true));
}

#[test]
fn a_writer_that_stopped_in_the_middle_is_given_up_soon() {
    check(|version, _| version.set(7), (LOOKS_AT_ONE_WRITE.min(LOOKS), false));
}

#[test]
fn a_writer_that_goes_on_is_looked_at_for_longer() {
    // Writing whenever somebody looks; each look is at another write.
    check(|version, looks| version.set((u64::from(looks) * 2) | 1), (LOOKS, false));
    // It stops after some writes, some looks before those are given up.
    let writes = LOOKS - 2;
    check(|version, looks| version.set(if looks < writes { u64::from(looks) * 2 + 1 } else { 1000 }), (writes + 1, true));
}
