//! A program that has more rights than whoever runs it: what they say by the environment is not heard.

use crate::{argument, command, scratch, succeeds};
use perfschema::{Size, builder};
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;

const NOBODY: u32 = 65534;

/// What a user would like to read and may not, the program being somebody else's.
fn environment(command: &mut Command) -> &mut Command {
    command.env("PERFSCHEMA_OPTIONS", "performance-schema-events-waits-history-size=7").env("PERFSCHEMA_SHARE", "ON")
}

pub(crate) fn program() {
    let process = builder().size(Size::EventsWaitsHistorySize, 5);
    match &*argument() {
        "heard" => {
            let process = process.start().unwrap();
            let file = process.shared_file().unwrap().unwrap();
            std::fs::remove_file(file).unwrap();
            assert_eq!(process.region().config().get(Size::EventsWaitsHistorySize), 7);
        }
        "not heard" => {
            let process = process.start().unwrap();
            assert!(process.shared_file().is_none());
            assert_eq!(process.region().config().get(Size::EventsWaitsHistorySize), 5);
        }
        "quoted" => assert!(process.start().unwrap_err().to_string().contains("a secret")),
        what => panic!("no program {what}"),
    }
}

#[test]
fn who_runs_a_program_of_more_rights_is_not_heard() {
    succeeds(environment(&mut command("rights", "heard")));
    let file = scratch("secret");
    std::fs::write(&file, "a secret").unwrap();
    succeeds(command("rights", "quoted").env("PERFSCHEMA_OPTIONS_FILE", &file));
    // SAFETY: the call takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("SETUID IS NOT TESTED: that takes root");
        return std::fs::remove_file(file).unwrap();
    }
    // One of another user's rights, run by root, is to the system as one of root's, and need not be reached by that user.
    let own = command("rights", "not heard");
    let copy = scratch("setuid");
    std::fs::copy(own.get_program(), &copy).unwrap();
    chown(&copy, Some(NOBODY), Some(NOBODY)).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let mut setuid = Command::new(&copy);
    setuid.args(own.get_args()).envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    succeeds(environment(&mut setuid).env("PERFSCHEMA_OPTIONS_FILE", &file));
    [copy, file].into_iter().for_each(|file| std::fs::remove_file(file).unwrap());
}
