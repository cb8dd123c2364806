//! The README's quick start is the example, which is compiled.

#[test]
fn the_quick_start_is_the_example() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).unwrap();
    let example = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/quickstart.rs")).unwrap();
    let code: String = example.lines().skip_while(|line| line.starts_with("//!")).map(|line| format!("{line}\n")).collect();
    assert!(readme.contains(&format!("```rust\n{code}```")), "README.md shows something else than\n{code}");
    assert!(code.lines().count() <= 15);
}
