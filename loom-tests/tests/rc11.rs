//! Every numbered ordering of the core is enough, and none is more than is needed, over every execution that RC11 allows of the programs
//! in `rc11::protocols`; and code, programs and `docs/memory-model.md` have the same labels.
#![cfg(not(perfschema_loom))]

use perfschema_loom_tests::rc11::{protocols::PROGRAMS, weakenings};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn as_written_each_protocol_keeps_its_promise() {
    for program in PROGRAMS {
        let explored = program.explore(&[]);
        let mut wanted = program.wanted.to_vec();
        wanted.sort_unstable();
        let bad = explored.example(program.forbidden);
        assert_eq!(bad, None, "{}: {}", program.name, program.forbidden.join(", "));
        assert_eq!(explored.outcomes(), wanted, "{}: outcomes reached, and those that must be", program.name);
    }
}

#[test]
fn each_ordering_is_needed_and_each_wrong_form_is_wrong() {
    let weakenings = weakenings(PROGRAMS);
    let nothing: Vec<_> = weakenings.iter().filter(|weakening| weakening.breaks.is_empty()).collect();
    assert!(nothing.is_empty(), "these change nothing that is promised: {nothing:#?}");
    assert!(weakenings.len() > 40, "{}", weakenings.len());
}

#[test]
fn code_programs_and_page_have_the_same_labels() {
    let in_programs: BTreeSet<String> = PROGRAMS
        .iter()
        .flat_map(|program| program.explore(&[]).sites)
        .filter_map(|site| site.label().map(str::to_owned))
        .collect();
    let in_code: BTreeSet<String> = sources().values().flat_map(|text| labels(text)).collect();
    assert_eq!(in_code, in_programs, "core-nostd/src, and loom-tests/src/rc11/protocols.rs");
    let page = fs::read_to_string(root().join("docs/memory-model.md")).expect("the page");
    assert_eq!(in_code, labels(&page).collect(), "core-nostd/src, and docs/memory-model.md");
}

/// `sync.rs` wraps the atomics, `model.rs` the code for loom.
#[test]
fn every_ordering_of_the_code_has_a_label() {
    let strong = ["Ordering::Acquire", "Ordering::Release", "Ordering::AcqRel", "Ordering::SeqCst"];
    let mut count = 0;
    for (path, text) in sources().into_iter().filter(|(path, _)| !path.ends_with("sync.rs") && !path.ends_with("model.rs")) {
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| strong.iter().any(|ordering| line.contains(ordering))) {
            let comment = lines[..index].iter().rev().take_while(|line| line.starts_with("//"));
            let labelled = comment.chain([line]).any(|line| labels(line).next().is_some());
            assert!(labelled, "{}:{}: which ordering is this, and what does it pair with?", path.display(), index + 1);
            count += 1;
        }
    }
    assert!(count >= 30, "{count}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// `E1` of each `[E1]`.
fn labels(text: &str) -> impl Iterator<Item = String> {
    text.split('[').skip(1).filter_map(|after| {
        let label = after.split_once(']')?.0;
        matches!(label.as_bytes(), [b'A'..=b'Z', b'0'..=b'9']).then(|| label.to_owned())
    })
}

/// The core's files.
fn sources() -> BTreeMap<PathBuf, String> {
    let mut folders = vec![root().join("core-nostd/src")];
    let mut sources = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the core") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                sources.insert(path.clone(), fs::read_to_string(&path).expect("text"));
            }
        }
    }
    sources
}
