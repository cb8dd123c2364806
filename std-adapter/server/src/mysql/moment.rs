//! Moments and times of rows of the binary protocol: what is zero at the end is left out.

/// The numbers of a text, in their order, and its fraction as microseconds.
fn numbers(text: &str) -> (impl Iterator<Item = u32>, u32) {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let numbers = whole.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
    let micros = fraction.bytes().chain(std::iter::repeat(b'0')).take(6);
    (numbers, micros.fold(0, |micros, digit| micros * 10 + u32::from(digit.wrapping_sub(b'0') % 10)))
}

/// `2026-11-24`, `2026-11-24 12:30:00.000001`
pub(super) fn put_moment(packet: &mut Vec<u8>, text: &str) {
    let (mut numbers, micros) = numbers(text);
    let mut next = || numbers.next().unwrap_or(0);
    let year = u16::try_from(next()).unwrap_or(0).to_le_bytes();
    // Each of two digits.
    let [month, day, hour, minute, second] = [next(), next(), next(), next(), next()].map(|number| number as u8);
    let micros = micros.to_le_bytes();
    let all = [&year[..], &[month, day, hour, minute, second], &micros].concat();
    put_until(packet, &all, [11, 7, 4]);
}

/// `-12:30:00`, `838:59:59.000001`: days of their own.
pub(super) fn put_time(packet: &mut Vec<u8>, text: &str) {
    let (mut numbers, micros) = numbers(text);
    let mut next = || numbers.next().unwrap_or(0);
    let [hours, minute, second] = [next(), next(), next()];
    let all = [
        &[u8::from(text.starts_with('-'))][..],
        &(hours / 24).to_le_bytes(),
        &[(hours % 24) as u8, minute as u8, second as u8],
        &micros.to_le_bytes(),
    ]
    .concat();
    put_until(packet, &all, [12, 8, 8]);
}

/// The longest of these lengths at whose end something is not zero; nothing but a zero, if all is.
fn put_until(packet: &mut Vec<u8>, all: &[u8], lengths: [usize; 3]) {
    let needed = all.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let length = if needed == 0 { 0 } else { lengths.into_iter().filter(|length| *length >= needed).min().unwrap_or(0) };
    packet.push(length as u8);
    packet.extend_from_slice(&all[..length]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        for (text, expected) in [
            ("2026-11-24", &b"\x04\xea\x07\x0b\x18"[..]),
            ("2026-11-24 00:00:00.000", b"\x04\xea\x07\x0b\x18"),
            ("2026-11-24 12:30:00", b"\x07\xea\x07\x0b\x18\x0c\x1e\x00"),
            ("2026-11-24 00:00:00.5", b"\x0b\xea\x07\x0b\x18\0\0\0\x20\xa1\x07\0"),
            ("2026-11-24 12:30:59.000001", b"\x0b\xea\x07\x0b\x18\x0c\x1e\x3b\x01\0\0\0"),
            ("2026-11-24 12:30:59.987654", b"\x0b\xea\x07\x0b\x18\x0c\x1e\x3b\x06\x12\x0f\0"),
            ("0000-00-00 00:00:00", b"\0"),
        ] {
            let mut packet = Vec::new();
            put_moment(&mut packet, text);
            assert_eq!(packet, expected, "{text}");
        }
    }

    #[test]
    fn times() {
        for (text, expected) in [
            ("00:00:00.000", &b"\0"[..]),
            ("12:30:00", b"\x08\0\0\0\0\0\x0c\x1e\0"),
            ("24:00:00", b"\x08\0\x01\0\0\0\0\0\0"),
            ("-838:59:59", b"\x08\x01\x22\0\0\0\x16\x3b\x3b"),
            ("00:00:00.25", b"\x0c\0\0\0\0\0\0\0\0\x90\xd0\x03\0"),
        ] {
            let mut packet = Vec::new();
            put_time(&mut packet, text);
            assert_eq!(packet, expected, "{text}");
        }
    }
}
