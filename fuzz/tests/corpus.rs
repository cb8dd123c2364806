//! The stored corpus replays on stable, with what is near it, and the list of targets is the same wherever it is written.

use std::collections::BTreeSet;
use std::fs;
use std::panic;
use std::path::{Path, PathBuf};

use perfschema_fuzz::{Body, TARGETS};

/// Mutations of the inputs of each target together, and at most of each: enough where there are few, not too many where there are many.
const MUTATIONS: usize = 3_000;
const MUTATIONS_OF_EACH: usize = 300;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The names in a directory, without their endings.
fn stems(directory: &str) -> BTreeSet<String> {
    fs::read_dir(here(directory))
        .unwrap_or_else(|error| panic!("{directory}: {error}"))
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_list_of_targets_is_the_same_everywhere() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(targets.len(), TARGETS.len(), "each name once");
    assert_eq!(stems("corpus"), targets, "folders of fuzz/corpus");
    assert_eq!(stems("targets/fuzz_targets"), targets, "files of fuzz/targets/fuzz_targets");
    let manifest = fs::read_to_string(here("targets/Cargo.toml")).unwrap();
    for name in &targets {
        assert!(manifest.contains(&format!("\npath = \"fuzz_targets/{name}.rs\"")), "no [[bin]] for {name}");
        let target = fs::read_to_string(here(&format!("targets/fuzz_targets/{name}.rs"))).unwrap();
        assert!(target.contains(&format!("::{name}(data));")), "{name}.rs runs something else");
    }
}

#[test]
fn the_corpus_and_what_is_near_it() {
    for (target, body) in TARGETS {
        let directory = here("corpus").join(target);
        let mut inputs: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(&directory)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        inputs.sort();
        assert!(!inputs.is_empty(), "no inputs in {}", directory.display());

        let mutations = (MUTATIONS / inputs.len()).min(MUTATIONS_OF_EACH);
        for (path, input) in &inputs {
            replay(*body, path, "as stored", input);
            let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ input.len() as u64);
            for n in 0..mutations {
                let other = &inputs[random.below(inputs.len())].1;
                let mutated = mutate(&mut random, input.clone(), other);
                replay(*body, path, &format!("mutation {n}"), &mutated);
            }
        }
        println!("{target}: {} inputs and {mutations} mutations of each", inputs.len());
    }
}

/// Runs the body; if it panics, says on which bytes.
fn replay(body: Body, path: &Path, what: &str, input: &[u8]) {
    if let Err(panic) = panic::catch_unwind(|| body(input)) {
        eprintln!("{}, {what}: b\"{}\"", path.display(), input.escape_ascii());
        panic::resume_unwind(panic);
    }
}

/// One to four small changes.
fn mutate(random: &mut Random, mut input: Vec<u8>, other: &[u8]) -> Vec<u8> {
    for _ in 0..=random.below(4) {
        let at = random.below(input.len() + 1);
        let end = at + random.below(input.len() - at + 1).min(16);
        match random.below(6) {
            0 if at < input.len() => input[at] ^= 1 << random.below(8),
            1 if at < input.len() => input[at] = [0, 1, 0x7f, 0x80, 0xff, b'%', b'/', b'='][random.below(8)],
            2 => input.truncate(at),
            3 => drop(input.drain(at..end)),
            4 => input.extend_from_within(at..end),
            _ => {
                let from = random.below(other.len() + 1);
                let piece = &other[from..(from + 24).min(other.len())];
                drop(input.splice(at..end, piece.iter().copied()));
            }
        }
    }
    input
}

/// Xorshift: the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}
