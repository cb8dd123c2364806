//! `docs/tables.md` is what `perfschema doc` writes.

use std::path::Path;
use std::process::Command;

#[test]
fn reference_of_tables_is_current() {
    let output = Command::new(env!("CARGO_BIN_EXE_perfschema")).arg("doc").output().expect("the program was built");
    assert!(output.status.success());
    let generated = String::from_utf8(output.stdout).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    // Compared line by line: of a long text that differs, the first difference is what one wants to see.
    for (number, (is, should)) in committed.lines().zip(generated.lines()).enumerate() {
        assert_eq!(is, should, "line {} of docs/tables.md; UPDATE_EXPECT=1 writes it anew", number + 1);
    }
    assert_eq!(committed.len(), generated.len(), "docs/tables.md is not complete; UPDATE_EXPECT=1 writes it anew");
}
