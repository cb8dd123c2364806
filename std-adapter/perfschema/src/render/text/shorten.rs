//! What is left of a text where there is no room for all of it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in at most `width` columns, with `…` for what is gone. A name or path loses its front, since the names of a column differ
/// at the end; it is cut before a `/` if there is one near. A text of several words loses its end, and a name with several only if its last
/// part is too long by itself. One that is short enough stays.
///
/// ```
/// use perfschema::render::text::shorten;
/// assert_eq!(shorten("wait/synch/mutex/demo/postings", 16), "…/demo/postings");
/// assert_eq!(shorten("stage/sql/Sending data", 16), "…/Sending data");
/// assert_eq!(shorten("two words", 6), "two w…");
/// assert_eq!(shorten("words", 5), "words");
/// ```
pub fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let Some(room) = width.checked_sub(1) else { return String::new() };
    let last_part = last_part(text);
    if last_part.contains(' ') && (last_part.len() == text.len() || last_part.width() > room) {
        let front = if last_part.len() == text.len() || room == 0 { "" } else { "…" };
        return format!("{front}{}…", head(last_part, room - front.width()));
    }
    let mut start = cut(text.char_indices().rev(), room).unwrap_or(text.len());
    // What is left must not begin with a part of a character that is gone.
    while text[start..].chars().next().is_some_and(|c| c.width() == Some(0)) || text[start..].width() > room {
        start += text[start..].chars().next().map_or(1, char::len_utf8);
    }
    let tail = &text[start..];
    let slash = tail.find('/').filter(|&at| at <= tail.len() / 4).unwrap_or(0);
    format!("…{}", &tail[slash..])
}

/// What stands behind the last `/` of a name or path, with it; all of a text that is neither.
fn last_part(text: &str) -> &str {
    let first_word = text.split(' ').next().unwrap_or(text);
    let is_name = first_word.contains('/') && !first_word.starts_with("/*");
    text.rfind('/').filter(|_| is_name).map_or(text, |slash| &text[slash..])
}

/// The beginning in at most `room` columns.
fn head(text: &str, room: usize) -> &str {
    let mut end = cut(text.char_indices().map(|(at, c)| (at + c.len_utf8(), c)), room).unwrap_or(0);
    // Characters may be wider together than apart.
    while text[..end].width() > room {
        end = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
    }
    text[..end].trim_end_matches(['\u{200d}', ' '])
}

/// The last place that is reached within `room` columns.
fn cut(places: impl Iterator<Item = (usize, char)>, room: usize) -> Option<usize> {
    let mut width = 0;
    places
        .take_while(|(_, c)| {
            width += c.width().unwrap_or(0);
            width <= room
        })
        .last()
        .map(|(at, _)| at)
}
