//! Instrument names: the checker of the core beside a second one, written from the rules and not from the code.

use perfschema_core::name::{InstrumentKind, InstrumentName, NAME_LENGTH, NameError};

/// Any bytes, read as UTF-8 as far as they are that.
///
/// # Panics
///
/// When the core and the second checker disagree, or an answer contradicts itself.
pub fn names(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check(&text);
    // Few random strings have a class, so the same bytes also as the rest of a name that starts well.
    for start in ["wait/synch/mutex/", "wait/io/file/", "wait/", "wait/a/mutex/", "stage/", "memory/a/"] {
        check(&format!("{start}{text}"));
    }
}

fn check(name: &str) {
    let result = InstrumentName::new(name);
    assert_eq!(result.is_ok(), is_legal(name), "{name:?}: {result:?}");
    match result {
        Ok(checked) => {
            assert_eq!(checked.as_str(), name);
            assert_eq!(checked.parts().collect::<Vec<_>>().join("/"), name);
            assert_eq!(checked.kind(), kind(name), "{name:?}");
            assert!(name.starts_with(checked.kind().prefix()));
            assert_eq!(checked.parts().next(), Some(checked.event_class().as_str()));
        }
        Err(error) => check_error(name, error),
    }
}

/// What an error says about the name is true of it.
fn check_error(name: &str, error: NameError) {
    assert!(error.to_string().starts_with(error.message()));
    if let Some(position) = error.position() {
        assert!(position <= name.len(), "{name:?}: {error}");
    }
    match error {
        NameError::Empty => assert!(name.is_empty()),
        NameError::TooLong { length } => assert!(length == name.len() && length > NAME_LENGTH),
        NameError::EmptyPart { position } => {
            assert!(matches!(name.as_bytes().get(position), None | Some(b'/')));
        }
        NameError::OuterSpace { position } => assert_eq!(name.as_bytes()[position], b' '),
        NameError::Forbidden { position, found } => assert!(name[position..].starts_with(found)),
        NameError::TooFewParts { found, expected, .. } => {
            assert!(found == name.split('/').count() && found < expected);
        }
        NameError::TooManyParts { found, expected, .. } => {
            assert!(found == name.split('/').count() && found > expected);
        }
        _ => {}
    }
}

fn is_legal(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let shape = match parts[0] {
        "wait" => match parts[1..] {
            ["synch" | "io" | "lock", ..] => parts.len() >= 4,
            [_, "mutex" | "rwlock" | "cond" | "file" | "socket", _, ..] => false,
            _ => parts.len() >= 3,
        },
        "stage" | "statement" | "memory" => parts.len() >= 3,
        "transaction" | "idle" => parts.len() == 1,
        _ => false,
    };
    let invisible = |c: char| {
        (c.is_whitespace() && c != ' ')
            || matches!(c as u32, 0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f | 0x3164)
            || matches!(c as u32, 0x2028..=0x202e | 0x2060..=0x206f | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb)
            || matches!(c as u32, 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
    };
    shape
        && name.len() <= 128
        && parts.iter().all(|part| !part.is_empty() && part.trim_matches(' ').len() == part.len())
        && !name.contains(|c: char| c.is_control() || "%\\=".contains(c) || invisible(c))
}

fn kind(name: &str) -> InstrumentKind {
    let parts: Vec<&str> = name.split('/').collect();
    match parts[..] {
        ["wait", "synch", "mutex", ..] => InstrumentKind::Mutex,
        ["wait", "synch", "rwlock", ..] => InstrumentKind::RwLock,
        ["wait", "synch", "cond", ..] => InstrumentKind::Cond,
        ["wait", "synch", ..] => InstrumentKind::Synch,
        ["wait", "io", "file", ..] => InstrumentKind::File,
        ["wait", "io", "socket", ..] => InstrumentKind::Socket,
        ["wait", ..] => InstrumentKind::Wait,
        ["stage", ..] => InstrumentKind::Stage,
        ["statement", ..] => InstrumentKind::Statement,
        ["transaction"] => InstrumentKind::Transaction,
        ["idle"] => InstrumentKind::Idle,
        ["memory", ..] => InstrumentKind::Memory,
        _ => panic!("{name:?} is no legal name"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn seeds() {
        for seed in [
            "",
            "wait/synch/mutex/sql/LOCK_open",
            "wait/io/file/sql/error log",
            "wait/lock/metadata/sql/mdl",
            "wait/app/db_pool",
            "wait/app/file",
            "wait/app/file/x",
            "wait/sync/mutex/x",
            "stage/sql/Opening tables",
            "idle",
            "transaction/",
            "a / b",
            "x%y=z\\",
            "\u{202e}",
            "größe/\u{1f600}",
        ] {
            super::names(seed.as_bytes());
        }
        super::names(b"\xff\xc2\x80/\xe2\x80");
        super::names(&[b'x'; 200]);
    }
}
