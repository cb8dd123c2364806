//! `SET GLOBAL innodb_monitor_enable = …` and its companions: metrics are switched and set back (WL#5316).

use crate::Error;
use crate::session::Session;
use perfschema::metric::{self, MonitorCommand};
use perfschema::render::OwnedValue;

impl Session {
    /// What metrics the value names to which the command is to be given; None if it is `default`,
    /// which is [warned of](Self::monitor).
    ///
    /// # Errors
    /// It names none, or this session may not.
    pub(crate) fn monitored(&self, command: MonitorCommand, is_global: bool, value: OwnedValue) -> Result<Option<String>, Error> {
        let variable = command.variable();
        if !is_global {
            let message = format!("Variable '{variable}' is a GLOBAL variable and should be set with SET GLOBAL");
            return Err(Error::new(1229, "HY000", message));
        }
        self.may_control("SUPER or SYSTEM_VARIABLES_ADMIN")?;
        let refused =
            |text: &str| Error::new(1231, "42000", format!("Variable '{variable}' can't be set to the value of '{text}'"));
        let target = match value {
            OwnedValue::Text(target) => target,
            OwnedValue::Null => return Err(refused("NULL")),
            _ => return Err(Error::new(1232, "42000", format!("Incorrect argument type to variable '{variable}'"))),
        };
        if target.eq_ignore_ascii_case("default") {
            return Ok(None);
        }
        if self.state.region().has_monitor(&target) { Ok(Some(target)) } else { Err(refused(&target)) }
    }

    /// Gives a command to metrics that there are. What it leaves as it was is warned of.
    pub(crate) fn monitor(&self, command: MonitorCommand, target: Option<&str>) {
        let warn = |errno, message| self.state.warn("Warning", Error::new(errno, "HY000", message));
        let Some(target) = target else {
            let message = "Default value is not defined for this set option. Please specify correct counter or module name.";
            return warn(1230, message.to_owned());
        };
        // Metrics stay for ever, so it names some still.
        let _ = self.state.region().monitor(command, target, metric::now(), |refusal| warn(1105, refusal.to_string()));
    }
}
