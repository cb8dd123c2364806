//! Start-up options: whatever is read can be written and read again, whatever is refused is refused at its place.

use perfschema_core::Setting;
use perfschema_core::options::{OptionError, StartOption, instrument_setting, options as read, parse_option, same_name};

/// Any bytes, read as UTF-8 as far as they are that.
///
/// # Panics
///
/// When an option does not survive being written and read again, an error points outside of the text or at
/// something else than it says, or the same text alone and in a list differ.
pub fn options(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check(&text);
    // Few random strings have an option's name, so the same bytes also behind each kind of name.
    for start in [
        "performance-schema",
        "performance-schema=",
        "--performance_schema_instrument=",
        "performance-schema-instrument='wait/%=",
        "performance-schema-consumer-",
        "performance-schema-max-mutex-classes = ",
    ] {
        check(&format!("{start}{text}"));
    }
}

fn check(text: &str) {
    check_result(text, parse_option(text));
    let mut count = 0;
    for result in read(text) {
        check_result(text, result);
        count += 1;
    }
    // Each item takes at least one byte and, but for the last, a separator.
    assert!(count <= text.len().div_ceil(2), "{count} options in {text:?}");
    // A single option, without what has a meaning only between options, reads the same in a list.
    if !text.contains([';', '\n', '#', '[']) && !text.trim().is_empty() {
        assert!(read(text).eq([parse_option(text)]), "{text:?}");
    }
    // A first line of its own, shorter by itself, moves positions and changes nothing else.
    let moved = format!("# first\n{text}");
    for (here, there) in read(text).zip(read(&moved)) {
        match (here, there) {
            (Ok(here), Ok(there)) => assert_eq!(here, there),
            (Err(here), Err(there)) => {
                assert_eq!(here.position() + 8, there.position(), "{text:?}");
            }
            _ => panic!("{text:?}: {here:?} became {there:?}"),
        }
    }
    assert_eq!(read(text).count(), read(&moved).count(), "{text:?}");
    // The rule of the longest pattern, by a sort that keeps the order of equals.
    for name in ["idle", "wait/synch/mutex/sql/LOCK_open"] {
        let found = instrument_setting(read(text).filter_map(Result::ok), name);
        let mut matching: Vec<_> = read(text)
            .filter_map(|option| match option {
                Ok(StartOption::Instrument { pattern, setting }) if pattern.matches(name) => Some((pattern, setting)),
                _ => None,
            })
            .collect();
        matching.sort_by_key(|(pattern, _)| pattern.as_str().len());
        assert_eq!(found, matching.last().map(|(_, setting)| *setting), "{text:?}");
    }
}

fn check_result(text: &str, result: Result<StartOption<'_>, OptionError<'_>>) {
    match result {
        Ok(option) => {
            if let Some(written) = write(option) {
                assert_eq!(parse_option(&written), Ok(option), "{written:?} from {text:?}");
                assert!(read(&written).eq([Ok(option)]), "{written:?} from {text:?}");
            }
        }
        Err(error) => {
            let rest = text.get(error.position()..).unwrap_or_else(|| panic!("{text:?}: {error}"));
            match error {
                OptionError::UnknownOption { found, .. }
                | OptionError::BadSwitch { found, .. }
                | OptionError::BadSetting { found, .. }
                | OptionError::BadSize { found, .. }
                | OptionError::SizeTooLarge { found, .. }
                | OptionError::TextAfterQuote { found, .. } => {
                    assert!(rest.starts_with(found), "{text:?}: {error}");
                }
                OptionError::OpenQuote { .. } => {
                    assert!(rest.starts_with(['\'', '"']), "{text:?}: {error}");
                }
                OptionError::MissingValue { option, .. } => {
                    assert!(text[..error.position()].contains(option), "{text:?}: {error}");
                }
                OptionError::MissingSetting { pattern, .. } => {
                    assert!(text[..error.position()].contains(pattern), "{text:?}: {error}");
                }
                _ => {}
            }
        }
    }
}

/// The option in one spelling; `None` for a pattern that cannot be quoted (both quotes, or a line's end).
fn write(option: StartOption<'_>) -> Option<String> {
    Some(match option {
        StartOption::Everything(on) => format!("PERFORMANCE_SCHEMA={on}"),
        StartOption::Instrument { pattern, setting } => {
            let setting = match setting {
                Setting::ON => "ON",
                Setting::OFF => "OFF",
                Setting::COUNTED => "COUNTED",
                other => panic!("no option says {other:?}"),
            };
            let quote = ['\'', '"'].into_iter().find(|quote| !pattern.as_str().contains([*quote, '\n']))?;
            format!("performance-schema-instrument={quote}{pattern}={setting}{quote}")
        }
        StartOption::Consumer { name, enabled } => {
            assert!(same_name(name, &name.to_uppercase().replace('-', "_")));
            format!("--performance-schema-consumer-{name}={}", u8::from(enabled))
        }
        StartOption::Size { variable, value: Some(value) } => format!("{variable}={value}"),
        StartOption::Size { variable, value: None } => format!("{variable}=-1"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn seeds() {
        for seed in [
            "",
            "=ON",
            "performance-schema=ON;--performance_schema_max_mutex_classes=4K",
            "performance-schema-instrument='wait/%=COUNTED'\nperformance-schema-instrument=\"%=off\"",
            "[mysqld]\r\n# comment; more\nperformance-schema-consumer-events-waits-history = yes",
            "'stage/sql/it; waits=ON",
            "'ON' off",
            "\u{e4}\u{2028}=\u{a0}'",
            "-1",
            "99999999999999999999E",
            "#",
            "[",
            ";;\n;",
        ] {
            super::options(seed.as_bytes());
        }
        super::options(b"\xff'\xfe\"\n=");
    }

    #[test]
    fn many_small_ones() {
        let alphabet = b"=;'\"\n#[] -_%aON1K";
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..if cfg!(miri) { 20 } else { 20_000 } {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            super::options(&state.to_le_bytes().map(|byte| alphabet[byte as usize % alphabet.len()]));
        }
    }
}
