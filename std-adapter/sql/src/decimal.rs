//! MySQL's exact numbers, DECIMAL: as many digits as are said, so many of them behind the point.
//!
//! A column is shown with its scale, and computed with more: MySQL divides in words of nine digits, so `1 / 3` is shown as 0.3333, and
//! `1 / 3 * 3` is 1.0000 and not 0.9999. So a value knows both, how many digits it has behind the point and how many of them are shown;
//! what leaves an expression, to be grouped, united or read, has no more than those.

use crate::Error;
use num_bigint::{BigInt, Sign};
use rusqlite::types::Value as SqliteValue;
use std::cmp::Ordering;
use std::fmt;

/// All digits, and those behind the point: MySQL has no more.
pub(crate) const MAX_DIGITS: u8 = 65;
pub(crate) const MAX_SCALE: u8 = 30;
/// How many digits a division shows more than its dividend: `div_precision_increment`.
pub(crate) const MORE: u8 = 4;
/// The digits of a word of MySQL's.
const WORD: u8 = 9;
/// Digits behind the point that a value is computed with at most, so that none grows without end.
const MAX_KEPT: u8 = 45;
/// The digits of a text that count.
const MAX_READ: usize = 200;

/// An exact number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    /// The number times ten to the power of `kept`.
    digits: BigInt,
    kept: u8,
    /// How many digits behind the point are shown.
    scale: u8,
}

fn power(exponent: u8) -> BigInt {
    match 10_u64.checked_pow(exponent.into()) {
        Some(power) => power.into(),
        None => BigInt::from(10).pow(exponent.into()),
    }
}

/// Whole words of MySQL's.
fn words(digits: u8) -> u8 {
    digits.div_ceil(WORD) * WORD
}

/// Half of it is rounded away from zero.
fn divide_rounded(digits: &BigInt, by: &BigInt) -> BigInt {
    let half = by / 2_u8;
    if digits.sign() == Sign::Minus { (digits - half) / by } else { (digits + half) / by }
}

impl From<i128> for Decimal {
    fn from(number: i128) -> Decimal {
        Decimal { digits: number.into(), kept: 0, scale: 0 }
    }
}

impl Decimal {
    /// What is written in a statement: digits, and a point among them. None: these are more digits than there are, or something else.
    pub(crate) fn literal(text: &str) -> Option<Decimal> {
        let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = is_digits(whole) && is_digits(fraction) && whole.len() + fraction.len() > 0;
        let whole = whole.trim_start_matches('0');
        if !is_number || whole.len() > MAX_DIGITS.into() {
            return None;
        }
        let kept = fraction.len().min(MAX_KEPT.into());
        let digits = format!("{sign}0{whole}{}", &fraction[..kept]).parse().ok()?;
        // No more than 45 fit.
        let kept = kept as u8;
        Some(Decimal { digits, kept, scale: kept.min(MAX_SCALE) })
    }

    /// The number that a text begins with, with an exponent too; 0 if there is none.
    pub(crate) fn of_text(text: &str) -> Decimal {
        let text = text.trim_start();
        let (is_negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let digits_of = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (whole, rest) = rest.split_at(digits_of(rest));
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(digits_of(rest)),
            None => ("", rest),
        };
        let exponent = rest.strip_prefix(['e', 'E']).map_or(0, |rest| {
            let unsigned = rest.strip_prefix(['-', '+']).unwrap_or(rest);
            let exponent =
                unsigned[..digits_of(unsigned)].parse::<i64>().unwrap_or(if digits_of(unsigned) > 0 { 1 << 20 } else { 0 });
            if rest.starts_with('-') { -exponent } else { exponent }
        });
        // Where the point is among the digits, from the first that is no zero.
        let all = [whole, fraction].concat();
        let digits = all.trim_start_matches('0');
        let zeros = all.len() - digits.len();
        let length = |length: usize| i64::try_from(length).unwrap_or(i64::MAX / 4);
        let point = (length(whole.len()) - length(zeros)).saturating_add(exponent);
        if digits.is_empty() || point < -i64::from(MAX_KEPT) {
            // A zero, too, has digits behind the point.
            let scale = length(fraction.len()).saturating_sub(exponent).clamp(0, MAX_SCALE.into());
            return Decimal::from(0).with_scale(u8::try_from(scale).unwrap_or(MAX_SCALE));
        }
        // Larger than all others; who wants it fitted gets the largest.
        let point = point.min(i64::from(MAX_DIGITS) + 1);
        let wanted = usize::try_from(point + i64::from(MAX_KEPT)).unwrap_or(0).min(MAX_READ);
        let read = &digits[..digits.len().min(wanted)];
        let kept = length(read.len()) - point;
        let digits: BigInt = read.parse().unwrap_or_default();
        let digits = if is_negative { -digits } else { digits };
        match u8::try_from(kept) {
            Ok(kept) => Decimal { digits, kept, scale: kept.min(MAX_SCALE) },
            // Zeros follow.
            Err(_) => Decimal { digits: digits * power(u8::try_from(-kept).unwrap_or(MAX_DIGITS)), kept: 0, scale: 0 },
        }
    }

    /// The number that is written with the fewest digits of all that are this one.
    pub(crate) fn of_real(number: f64) -> Decimal {
        Decimal::of_text(&format!("{number:e}"))
    }

    pub(crate) fn real(&self) -> f64 {
        format!("{}e-{}", self.digits, self.kept).parse().unwrap_or(0.0)
    }

    /// Rounded to a whole number; one that is too large to the largest.
    pub(crate) fn whole(&self) -> i128 {
        let whole = self.rounded(0).digits;
        let largest = if whole.sign() == Sign::Minus { i128::MIN } else { i128::MAX };
        whole.try_into().unwrap_or(largest)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.sign() == Sign::NoSign
    }

    /// How many digits are shown behind the point.
    pub(crate) fn scale(&self) -> u8 {
        self.scale
    }

    /// How many digits it has, as DECIMAL counts them: the 0 before the point is one.
    pub(crate) fn precision(&self) -> u8 {
        let digits = self.shown().digits.magnitude().to_string().len();
        u8::try_from(digits).unwrap_or(u8::MAX).clamp(self.scale + 1, MAX_DIGITS)
    }

    fn digits_with(&self, kept: u8) -> BigInt {
        &self.digits * power(kept.saturating_sub(self.kept))
    }

    /// With so many digits behind the point and no more.
    pub(crate) fn rounded(&self, scale: u8) -> Decimal {
        let digits = match self.kept.checked_sub(scale) {
            Some(0) => self.digits.clone(),
            Some(more) => divide_rounded(&self.digits, &power(more)),
            None => self.digits_with(scale),
        };
        Decimal { digits, kept: scale, scale }
    }

    /// What leaves an expression.
    pub(crate) fn shown(&self) -> Decimal {
        self.rounded(self.scale)
    }

    /// Shown with so many digits behind the point.
    pub(crate) fn with_scale(&self, scale: u8) -> Decimal {
        let kept = self.kept.max(scale);
        Decimal { digits: self.digits_with(kept), kept, scale }
    }

    /// ROUND, and TRUNCATE if it is not rounded: to so many places, which may be before the point.
    pub(crate) fn to_places(&self, places: i128, is_rounded: bool) -> Decimal {
        let scale = u8::try_from(places.max(0)).unwrap_or(MAX_SCALE).min(self.scale);
        // Before the point, there are no more than 65.
        let before = u8::try_from(places.min(0).unsigned_abs()).unwrap_or(u8::MAX).min(MAX_DIGITS + 1);
        let unit = power(before);
        let by = power(self.kept.saturating_sub(scale)) * &unit;
        let digits = if is_rounded { divide_rounded(&self.digits, &by) } else { &self.digits / by };
        Decimal { digits: digits * unit, kept: scale, scale }
    }

    /// The whole number below, or above.
    pub(crate) fn to_whole(&self, is_up: bool) -> Decimal {
        let unit = power(self.kept);
        let (whole, rest) = (&self.digits / &unit, &self.digits % &unit);
        let step = match (rest.sign(), is_up) {
            (Sign::Minus, false) => -1,
            (Sign::Plus, true) => 1,
            _ => 0,
        };
        Decimal { digits: whole + step, kept: 0, scale: 0 }
    }

    pub(crate) fn abs(&self) -> Decimal {
        if self.digits.sign() == Sign::Minus { Decimal { digits: -&self.digits, ..*self } } else { self.clone() }
    }

    fn fitting(self) -> Result<Decimal, Error> {
        if self.digits.magnitude() < (power(MAX_DIGITS) * power(self.kept)).magnitude() {
            Ok(self)
        } else {
            Err(Error::out_of_range("DECIMAL"))
        }
    }

    fn together(&self, other: &Decimal, f: impl Fn(BigInt, BigInt) -> BigInt) -> Result<Decimal, Error> {
        let kept = self.kept.max(other.kept);
        let digits = f(self.digits_with(kept), other.digits_with(kept));
        Decimal { digits, kept, scale: self.scale.max(other.scale) }.fitting()
    }

    pub(crate) fn add(&self, other: &Decimal) -> Result<Decimal, Error> {
        self.together(other, |a, b| a + b)
    }

    pub(crate) fn subtract(&self, other: &Decimal) -> Result<Decimal, Error> {
        self.together(other, |a, b| a - b)
    }

    pub(crate) fn multiply(&self, other: &Decimal) -> Result<Decimal, Error> {
        let kept = self.kept + other.kept;
        let (digits, scale) = (&self.digits * &other.digits, (self.scale + other.scale).min(MAX_SCALE));
        let (digits, kept) = match kept.checked_sub(MAX_KEPT) {
            Some(more) => (digits / power(more), MAX_KEPT),
            None => (digits, kept),
        };
        Decimal { digits, kept, scale }.fitting()
    }

    /// None: the other is zero.
    pub(crate) fn divide(&self, other: &Decimal) -> Option<Result<Decimal, Error>> {
        if other.is_zero() {
            return None;
        }
        // As MySQL's do_div_mod has it: both have whole words of digits, and what these have too many need not come on top.
        let (own, theirs) = (words(self.kept), words(other.kept));
        let more = MORE.saturating_sub(own - self.kept + (theirs - other.kept));
        let kept = words(own + theirs + more).min(MAX_KEPT);
        let digits = &self.digits * power(kept + other.kept) / (&other.digits * power(self.kept));
        Some(Decimal { digits, kept, scale: (self.scale + MORE).min(MAX_SCALE) }.fitting())
    }

    /// What remains, with the sign of the dividend. None: the other is zero.
    pub(crate) fn remainder(&self, other: &Decimal) -> Option<Result<Decimal, Error>> {
        (!other.is_zero()).then(|| self.together(other, |a, b| a % b))
    }

    /// The whole part of the quotient. None: the other is zero.
    pub(crate) fn divide_whole(&self, other: &Decimal) -> Option<Decimal> {
        let kept = self.kept.max(other.kept);
        let whole = || Decimal { digits: self.digits_with(kept) / other.digits_with(kept), kept: 0, scale: 0 };
        (!other.is_zero()).then(whole)
    }

    /// Of DECIMAL(digits, scale): if it is out of range, the nearest that is not, and true.
    pub(crate) fn fitted(&self, digits: u8, scale: u8) -> (Decimal, bool) {
        let rounded = self.rounded(scale);
        let largest: BigInt = power(digits) - 1;
        if rounded.digits.magnitude() <= largest.magnitude() {
            return (rounded, false);
        }
        let digits = if rounded.digits.sign() == Sign::Minus { -largest } else { largest };
        (Decimal { digits, kept: scale, scale }, true)
    }

    /// The same number in the one form that equal ones have.
    pub(crate) fn normal(&self) -> Decimal {
        let (mut digits, mut kept) = (self.digits.clone(), self.kept);
        while kept > 0 && (&digits % 10_u8).sign() == Sign::NoSign {
            digits /= 10_u8;
            kept -= 1;
        }
        Decimal { digits, kept, scale: kept.min(MAX_SCALE) }
    }

    /// Which is larger, whatever their digits are.
    pub(crate) fn compare(&self, other: &Decimal) -> Ordering {
        let kept = self.kept.max(other.kept);
        self.digits_with(kept).cmp(&other.digits_with(kept))
    }

    /// The whole number below, and what is above it; the nearest that there is, if it is too large.
    pub(crate) fn parts(&self) -> (i128, f64) {
        let below = self.to_whole(false);
        match i128::try_from(&below.digits) {
            Ok(whole) => {
                let rest = Decimal { digits: &self.digits - below.digits_with(self.kept), ..*self };
                (whole, rest.real())
            }
            Err(_) if self.digits.sign() == Sign::Minus => (i128::MIN, self.real()),
            Err(_) => (i128::MAX, self.real()),
        }
    }

    /// As SQLite is given it: a whole number as one; else a scale, digits behind the point, how long the number is, and its bytes. All
    /// that come of one expression have the same scale and the same digits, and are in the order of the numbers.
    pub(crate) fn store(&self) -> SqliteValue {
        if self.kept == 0 {
            match i128::try_from(&self.digits) {
                Ok(number) if i64::try_from(number).is_ok() => return SqliteValue::Integer(number as i64),
                Ok(number @ 0..) => return SqliteValue::Blob(number.to_be_bytes().to_vec()),
                _ => {}
            }
        }
        let is_negative = self.digits.sign() == Sign::Minus;
        let bytes = self.digits.magnitude().to_bytes_be();
        // Eights, and three: a length that no other number has.
        let eights = bytes.len().div_ceil(8);
        let length = u8::try_from(eights).unwrap_or(0x7f).min(0x7f);
        let mut blob = vec![self.scale, self.kept, if is_negative { 0x7f - length } else { 0x80 + length }];
        let padded = std::iter::repeat_n(0, 8 * eights - bytes.len()).chain(bytes);
        blob.extend(padded.map(|byte| if is_negative { !byte } else { byte }));
        SqliteValue::Blob(blob)
    }

    /// What [`Self::store`] made.
    pub(crate) fn load(blob: &[u8]) -> Option<Decimal> {
        let (&[scale, kept, length], bytes) = blob.split_first_chunk::<3>()?;
        if bytes.len() % 8 != 0 || scale > MAX_SCALE || kept > MAX_KEPT {
            return None;
        }
        let digits = match length {
            0x80.. => BigInt::from_bytes_be(Sign::Plus, bytes),
            _ => BigInt::from_bytes_be(Sign::Minus, &bytes.iter().map(|byte| !byte).collect::<Vec<u8>>()),
        };
        Some(Decimal { digits, kept, scale })
    }
}

impl fmt::Display for Decimal {
    /// As MySQL prints it: with all digits of its scale.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.shown();
        let sign = if shown.digits.sign() == Sign::Minus { "-" } else { "" };
        let scale = usize::from(self.scale);
        let digits = format!("{:0>width$}", shown.digits.magnitude().to_string(), width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        write!(f, "{sign}{whole}{}{fraction}", if scale > 0 { "." } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::types::ValueRef;

    fn literal(text: &str) -> Decimal {
        Decimal::literal(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn texts_are_read_as_far_as_they_are_numbers() {
        let check = |text: &str, expected: &str| assert_eq!(Decimal::of_text(text).normal().to_string(), expected, "{text:.40}");
        check(" -12.50abc", "-12.5");
        check("1.5e2x", "150");
        check("1e", "1");
        check("1e+", "1");
        check("1e-2", "0.01");
        check("+.5", "0.5");
        check("5.", "5");
        check("0.000e5", "0");
        for nothing in ["", "-", ".", "x", "é", "-.e9", "e5", "1e-99999999999999999999999", "0e99999999999999999999"] {
            check(nothing, "0");
        }
        // As large as that, whatever it is.
        let large = Decimal::of_text("1e99999999999999999999999");
        assert!(large.fitted(MAX_DIGITS, 0).1);
        assert_eq!(Decimal::of_text(&"9".repeat(1 << 20)).fitted(2, 1).0.to_string(), "9.9");
        assert_eq!(Decimal::of_text(&format!("0.{}", "3".repeat(1 << 20))).rounded(3).to_string(), "0.333");
        assert_eq!(Decimal::of_text(&format!("{}7", "0".repeat(1 << 20))).to_string(), "7");
        for number in [0.1, -1.5e-7, 1e22, f64::MAX, f64::MIN_POSITIVE, 123_456.789] {
            let exact = Decimal::of_real(number).fitted(MAX_DIGITS, MAX_SCALE).0.real();
            assert!(number == exact || !(1e-20..1e30).contains(&number.abs()), "{number} {exact}");
        }
    }

    #[test]
    fn literals_are_digits_and_a_point() {
        for wrong in ["", ".", "-", "1e5", "1.5.2", "x", "--1", &"9".repeat(66)] {
            assert_eq!(Decimal::literal(wrong), None, "{wrong}");
        }
        assert_eq!(literal(&format!("000{}", "9".repeat(65))).precision(), 65);
        assert_eq!((literal("0.50").precision(), literal("0.50").scale()), (3, 2));
        assert_eq!(literal(&format!("1.{}", "5".repeat(100))).to_string(), format!("1.{}6", "5".repeat(29)));
    }

    /// Bytes have the order of the numbers, among those of one scale; whole ones are SQLite's.
    #[test]
    fn what_sqlite_is_given_comes_back_in_order() {
        let mut numbers =
            vec!["-0.5", "0.0", "0.5", "1.0", "255.9", "-255.9", "65535.0", "18446744073709551615.9", "-18446744073709551616.0"];
        let most = format!("{}.0", "9".repeat(64));
        let least = format!("-{most}");
        numbers.extend([most.as_str(), &least]);
        let stored = |text: &str| match literal(text).store() {
            SqliteValue::Blob(bytes) => bytes,
            other => panic!("{text}: {other:?}"),
        };
        for a in &numbers {
            assert_eq!(Decimal::load(&stored(a)), Some(literal(a)));
            // No other number has as many.
            assert!(![16, 24, 32].contains(&stored(a).len()));
            for b in &numbers {
                assert_eq!(stored(a).cmp(&stored(b)), literal(a).compare(&literal(b)), "{a} {b}");
            }
        }
        assert_eq!(literal("7").store(), SqliteValue::Integer(7));
        assert_eq!(literal("18446744073709551616").store(), SqliteValue::Blob((1_i128 << 64).to_be_bytes().to_vec()));
        // A whole number below all of SQLite's comes back, too.
        let below = literal("-18446744073709551616");
        assert_eq!(crate::value::Number::of(ValueRef::from(&below.store())), Some(crate::value::Number::Decimal(below)));
        // Bytes that nobody stored.
        for length in 0..70 {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                if let Some(decimal) = Decimal::load(&vec![byte; length]) {
                    let _ = (
                        decimal.to_string(),
                        decimal.real(),
                        decimal.whole(),
                        decimal.normal(),
                        decimal.parts(),
                        decimal.precision(),
                    );
                }
            }
        }
    }
}
