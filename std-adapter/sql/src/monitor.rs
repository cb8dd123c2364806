//! `SET GLOBAL innodb_monitor_enable = …` and its companions: metrics are switched and set back (WL#5316).

use crate::Error;
use crate::session::Session;
use perfschema::metric::{self, MonitorCommand};
use perfschema::render::OwnedValue;

impl Session {
    /// Gives a command to the metrics that the value names. What it leaves as it was is warned of.
    pub(crate) fn monitor(&mut self, command: MonitorCommand, is_global: bool, value: &OwnedValue) -> Result<(), Error> {
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
        let warn = |errno, message| self.state.warn("Warning", Error::new(errno, "HY000", message));
        if target.eq_ignore_ascii_case("default") {
            let message = "Default value is not defined for this set option. Please specify correct counter or module name.";
            warn(1230, message.to_owned());
        } else {
            let left = |refusal: metric::MonitorRefusal| warn(1105, refusal.to_string());
            self.state.region().monitor(command, target, metric::now(), left).map_err(|_| refused(target))?;
        }
        Ok(())
    }
}
