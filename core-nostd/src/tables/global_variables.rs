//! `global_variables`: the sizes that the region was made with, and what metrics were last switched.

use crate::config::Size;
use crate::metric::MonitorCommand;
use crate::region::{Region, Text};
use crate::table::{Declaration, Rights, SqlType, Sweep, TableSource, example, row};
use core::fmt::Write;

row! {
    /// A row of [`global_variables`](GlobalVariables).
    pub struct GlobalVariablesRow {
        /// The variable.
        VARIABLE_NAME as variable_name: &'static str,
        /// Its value.
        VARIABLE_VALUE as variable_value: Option<Text<64>> = SqlType::Varchar(1024),
    }
}

/// `global_variables`
#[doc = example!(
    "The region has room for 4 mutexes:",
    GlobalVariables,
    if row.variable_name.contains("mutex_instances"),
    "{} {}",
    [row.variable_name, row.variable_value.unwrap_or_default()],
    ["performance_schema_max_mutex_instances 4"]
)]
#[derive(Clone, Copy, Debug)]
pub struct GlobalVariables;

impl TableSource for GlobalVariables {
    type Row = GlobalVariablesRow;
    const DECLARATION: Declaration = Declaration {
        name: "global_variables",
        doc: "The sizes of the performance schema, as set at start, and which metrics were last switched or reset.",
        columns: GlobalVariablesRow::COLUMNS,
        primary_key: &["VARIABLE_NAME"],
        rights: Rights::SELECT,
    };

    fn scan(&self, region: &Region<'_>, each: &mut dyn FnMut(&GlobalVariablesRow)) -> Sweep {
        let mut sweep = Sweep::of(1 + Size::ALL.len() + MonitorCommand::ALL.len());
        let config = region.config();
        let on = ("performance_schema", Text::from("ON"));
        let sizes = Size::ALL.iter().map(|&size| (size.variable(), decimal(config.get(size).into())));
        for (variable_name, value) in core::iter::once(on).chain(sizes) {
            each(&GlobalVariablesRow { variable_name, variable_value: Some(value) });
            sweep.row();
        }
        for command in MonitorCommand::ALL {
            each(&GlobalVariablesRow { variable_name: command.variable(), variable_value: region.last_monitor(command) });
            sweep.row();
        }
        sweep
    }
}

/// A number as text; 20 digits are enough for any.
pub(super) fn decimal<const N: usize>(number: u64) -> Text<N> {
    let mut text = Text::EMPTY;
    let _ = write!(text, "{number}");
    text
}
