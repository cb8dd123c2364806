//! From text to terms.

/// Longer words are not terms: nobody looks for them, and files of encoded data are full of them.
const TERM_BYTES_MAX: usize = 64;

/// Hands each term of `text` to `each`, in their order: runs of letters and digits, in lower case. Bytes that are not UTF-8
/// separate.
pub fn for_each_term(text: &[u8], mut each: impl FnMut(&str)) {
    let mut lower = String::new();
    for chunk in text.utf8_chunks() {
        for word in chunk.valid().split(|c: char| !c.is_alphanumeric()) {
            if word.is_empty() || word.len() > TERM_BYTES_MAX {
                continue;
            }
            if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
                each(word);
                continue;
            }
            lower.clear();
            lower.extend(word.chars().flat_map(char::to_lowercase));
            each(&lower);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: impl AsRef<[u8]>, expected: &[&str]) {
        let mut terms = Vec::new();
        for_each_term(text.as_ref(), |term| terms.push(term.to_owned()));
        assert_eq!(terms, expected);
    }

    #[test]
    fn terms() {
        check("", &[]);
        check(" \n-- ", &[]);
        check("wait/synch/mutex", &["wait", "synch", "mutex"]);
        check("The LOCK_open is Open", &["the", "lock", "open", "is", "open"]);
        check("x86-64, 2.5 GHz", &["x86", "64", "2", "5", "ghz"]);
        check("Grüße ΑΒΓ 水 naïve", &["grüße", "αβγ", "水", "naïve"]);
    }

    #[test]
    fn bytes_that_are_not_utf8_separate() {
        check(b"gr\xfc\xdfe caf\xe9", &["gr", "e", "caf"]);
        check(b"\xff\xfe", &[]);
    }

    #[test]
    fn long_words_are_left_out() {
        let longest = "a".repeat(TERM_BYTES_MAX);
        check(format!("x {longest} y {longest}a z"), &["x", &longest, "y", "z"]);
    }
}
