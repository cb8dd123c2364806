//! The word of a bucket: three places, each plus 1, and above them how often it changed. The count makes a bucket that changed and
//! changed back another one for a compare-and-swap.

const LANE: u32 = 16;
const LANES: u32 = 3;
const MASK: u64 = (1 << LANE) - 1;

pub(crate) fn places(word: u64) -> impl Iterator<Item = usize> {
    let mut rest = word & ((1 << (LANES * LANE)) - 1);
    core::iter::from_fn(move || {
        while rest != 0 {
            let place = rest & MASK;
            rest >>= LANE;
            if place != 0 {
                return Some(place as usize - 1);
            }
        }
        None
    })
}

/// None if it is full.
pub(super) fn with(word: u64, place: usize) -> Option<u64> {
    let lane = (0..LANES).find(|lane| word >> (lane * LANE) & MASK == 0)?;
    Some(changed(word | ((place as u64 + 1) & MASK) << (lane * LANE)))
}

/// None if it is not there.
pub(crate) fn without(word: u64, place: usize) -> Option<u64> {
    let lane = (0..LANES).find(|lane| word >> (lane * LANE) & MASK == place as u64 + 1)?;
    Some(changed(word & !(MASK << (lane * LANE))))
}

fn changed(word: u64) -> u64 {
    word.wrapping_add(1 << (LANES * LANE))
}
