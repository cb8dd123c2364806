//! `perfschema serve` and `perfschema account`, as their users start them; ci/clients has the clients.
#![cfg(all(feature = "instrument", target_os = "linux"))]

mod common;

use common::{PROGRAM, perfschema};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn account(args: &[&str], password: &str) -> (bool, String, String) {
    let mut command = Command::new(PROGRAM);
    command.arg("account").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program was built");
    // Who refuses the arguments has ended without reading.
    let _ = child.stdin.take().expect("piped").write_all(password.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn accounts_are_lines() {
    let (success, line, err) = account(&["grafana", "reader", "--native"], "correct horse\n");
    assert!(success, "{err}");
    // SHA256(SHA256("correct horse")), SHA1(SHA1("correct horse")), as Python's hashlib has them.
    assert_eq!(
        line,
        "grafana reader caching_sha2_password:bf7ffba958c798f80e3cf8ebea1cbc781495cadb8880a7f2bbc73d530712b52d mysql_native_password:*0e8f21e4240f5ad5a07d088f9c93890d13d78a4e\n"
    );
    let (success, out, err) = account(&["grafana", "reader"], "\n");
    assert_eq!((success, out.as_str(), err.as_str()), (false, "", "perfschema: the password is empty\n"));
    let (success, _, err) = account(&["a b", "reader"], "x\n");
    assert_eq!((success, err.as_str()), (false, "perfschema: a name has 1 to 32 characters, without spaces and #\n"));
    assert!(!account(&["grafana", "root"], "x\n").0);
}

fn accounts_file(name: &str, text: &str, mode: u32) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("its owner");
    path
}

#[test]
fn what_cannot_be_served_is_said() {
    let fails = |accounts: &Path, args: &[&str], expected: &str| {
        let accounts = accounts.to_str().expect("UTF-8");
        let (success, out, err) = perfschema(&[&["serve", "no-such-program", "--accounts", accounts], args].concat());
        assert!(!success && out.is_empty() && err.contains(expected), "{args:?}: {out}{err}");
    };
    let good = accounts_file("serve-good", "a reader no-password\n", 0o600);
    fails(&good, &[], "required arguments were not provided");
    fails(&good, &["--mysql", "localhost"], "invalid value 'localhost'");
    fails(&good, &["--mysql", "127.0.0.1:0"], "no program no-such-program shares its tables");
    let open = accounts_file("serve-open", "a reader no-password\n", 0o640);
    fails(&open, &["--mysql", "127.0.0.1:0"], "others than its owner may read it: chmod 600");
    let wrong = accounts_file("serve-wrong", "\na reader\n", 0o600);
    fails(&wrong, &["--mysql", "127.0.0.1:0"], "serve-wrong: line 2: it says nothing about a password");
    fails(Path::new("/no/such/file"), &["--mysql", "127.0.0.1:0"], "/no/such/file: No such file");
}
