//! `LIKE` patterns: the core's matcher beside a table that is filled in from the definition.

use perfschema_core::pattern::LikePattern;

/// The bytes before the first zero byte are the pattern, those behind it the text. Both are also mapped to a
/// small alphabet, where matches are frequent.
///
/// # Panics
///
/// When the core and the table disagree.
pub fn patterns(data: &[u8]) {
    // The table has one cell for each pair of characters.
    let data = &data[..data.len().min(1024)];
    let at = data.iter().position(|byte| *byte == 0).unwrap_or(data.len() / 2);
    let (pattern, text) = data.split_at(at);
    let text = text.strip_prefix(&[0]).unwrap_or(text);
    check(&String::from_utf8_lossy(pattern), &String::from_utf8_lossy(text));
    check(&small(pattern, "%_?\\aBé"), &small(text, "aAbBé%_?"));
}

fn small(bytes: &[u8], alphabet: &str) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    bytes.iter().map(|byte| alphabet[*byte as usize % alphabet.len()]).collect()
}

fn check(pattern: &str, text: &str) {
    for (one, like) in [('_', LikePattern::new(pattern)), ('?', LikePattern::start_up(pattern))] {
        assert_eq!(like.as_str(), pattern);
        assert_eq!(like.matches(text), by_table(pattern, one, text), "{text:?} LIKE {pattern:?}, one character: {one}");
    }
}

/// `reached[j]`: the pattern so far matches the first `j` characters of the text.
fn by_table(pattern: &str, one: char, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    let mut pattern = pattern.chars();
    while let Some(c) = pattern.next() {
        if c == '%' {
            let first = reached.iter().position(|r| *r).unwrap_or(reached.len());
            reached[first..].fill(true);
            continue;
        }
        let wanted = match c {
            '\\' => Some(pattern.next().unwrap_or('\\')),
            c if c == one => None,
            c => Some(c),
        };
        for j in (0..text.len()).rev() {
            let fits = wanted.is_none_or(|wanted| wanted.eq_ignore_ascii_case(&text[j]));
            reached[j + 1] = reached[j] && fits;
        }
        reached[0] = false;
    }
    reached[text.len()]
}

#[cfg(test)]
mod tests {
    #[test]
    fn seeds() {
        for seed in [
            "",
            "%\0anything",
            "wait/%/LOCK\\_open\0wait/synch/mutex/sql/lock_open",
            "a%b%c\0a-b-b-c",
            "_?\0é\u{1f600}",
            "a\\\0a\\",
            "%a%a%a%a%a%b\0aaaaaaaaaaaaaaaaaaaaaaaaaa",
        ] {
            super::patterns(seed.as_bytes());
        }
        super::patterns(b"\xff%\0\xff\xfe");
    }

    #[test]
    fn many_small_ones() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..if cfg!(miri) { 20 } else { 20_000 } {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            super::patterns(&state.to_le_bytes());
            super::patterns(&(state as u128 * state as u128).to_le_bytes());
        }
    }
}
