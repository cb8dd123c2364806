//! Functions of MySQL's schema `sys` that look something up, and those of names and lists.

use crate::functions::Arguments;
use crate::numbers::to_unsigned;
use crate::state::State;
use crate::texts::bounded;
use crate::value::{self, Number};
use crate::{Error, variables};
use perfschema::core::table::TableSource;
use perfschema::core::{Consumer, name::EventClass};
use perfschema::tables::Threads;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

/// Columns of the row of `threads` that has this number in the column `key`, as the statement sees them. Rows are looked up, because there
/// may be a call for each of many others.
fn of_thread<const N: usize>(
    state: &State,
    key: &str,
    number: ValueRef<'_>,
    columns: [&str; N],
) -> Result<Option<[Value; N]>, Error> {
    let Some(number) = Number::of(number) else { return Ok(None) };
    let declaration = &Threads::DECLARATION;
    let unknown = || Error::unknown_table(Threads::SCHEMA, declaration.name);
    let (relation, _) = state.catalog.find(Threads::SCHEMA, declaration.name).ok_or_else(unknown)?;
    let rows = state.rows(relation)?;
    let number = value::unsigned(to_unsigned(number));
    let found = rows.find(declaration.column(key)?, ValueRef::from(&number), false);
    let Some(&row) = found.as_ref().and_then(|rows| rows.first()) else { return Ok(None) };
    let mut values = [const { Value::Null }; N];
    for (value, column) in values.iter_mut().zip(columns) {
        *value = match rows.get(row as usize, declaration.column(column)?) {
            Some(ToSqlOutput::Owned(value)) => value,
            Some(ToSqlOutput::Borrowed(value)) => value::owned(value),
            _ => Value::Null,
        };
    }
    Ok(Some(values))
}

/// How long ago a TIMER_START was, of an event of a class that `setup_timers` names.
pub(crate) fn time_since(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let class = value::text(arguments[0]).and_then(|name| EventClass::ALL.into_iter().find(|class| class.as_str() == name));
    let start = Number::of(arguments[1]).map(to_unsigned);
    let since = class.zip(start).and_then(|(class, start_ps)| state.time_since(class, start_ps));
    Ok(since.map_or(Value::Null, value::unsigned))
}

/// The thread of a connection of the program's. Of NULL it is NULL: the session itself is none of its threads.
pub(crate) fn ps_thread_id(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let found = of_thread(state, "PROCESSLIST_ID", arguments[0], ["THREAD_ID"])?;
    Ok(found.map_or(Value::Null, |[thread_id]| thread_id))
}

pub(crate) fn ps_thread_account(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let columns = ["PROCESSLIST_ID", "PROCESSLIST_USER", "PROCESSLIST_HOST"];
    Ok(match of_thread(state, "THREAD_ID", arguments[0], columns)? {
        None => Value::Null,
        Some([Value::Null, ..]) => Value::Text("UNKNOWN".to_owned()),
        Some([_, Value::Text(user), Value::Text(host)]) => Value::Text(format!("{user}@{host}")),
        Some(_) => Value::Null,
    })
}

/// Whether the consumer works: it and all above it are enabled.
pub(crate) fn ps_is_consumer_enabled(arguments: Arguments<'_>, state: &State) -> Result<Value, Error> {
    let consumer = value::text(arguments[0]).and_then(|name| Consumer::from_name(&name));
    let unknown = "Invalid argument error: in_consumer in function sys.ps_is_consumer_enabled.";
    let consumer = consumer.ok_or_else(|| Error::new(3047, "HY000", unknown))?;
    Ok(Value::Text(if state.region().consumer_works(consumer) { "YES" } else { "NO" }.to_owned()))
}

/// One of the three numbers of VERSION().
pub(crate) fn version_part(index: usize) -> Result<Value, Error> {
    let number = variables::VERSION.split(['.', '-']).nth(index).and_then(|part| part.parse().ok());
    Ok(number.map_or(Value::Null, Value::Integer))
}

/// As in `sys`, which is older than FORMAT_PICO_TIME, has other names for some units, and weeks; the views there have the latter since 8.0.16.
pub(crate) fn format_time(arguments: Arguments<'_>) -> Value {
    const UNITS: [(f64, &str); 8] =
        [(604_800e12, "w"), (86_400e12, "d"), (3_600e12, "h"), (60e12, "m"), (1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")];
    let Some(text) = value::text(arguments[0]) else { return Value::Null };
    let time_ps = Number::of(arguments[0]).map_or(0.0, |number| number.real());
    Value::Text(match UNITS.iter().find(|(unit_ps, _)| time_ps >= *unit_ps) {
        Some((unit_ps, unit)) => format!("{:.2} {unit}", time_ps / unit_ps),
        None => format!("{text} ps"),
    })
}

/// What a list is to get or lose; NULL is an error, of a list it is an empty one.
fn list_and_value(arguments: Arguments<'_>, function: &str, argument: &str) -> Result<(String, String), Error> {
    let message = format!("Function sys.{function}: {argument} input variable should not be NULL");
    let value = value::text(arguments[1]).ok_or_else(|| Error::new(1138, "02200", message))?;
    Ok((value::text(arguments[0]).unwrap_or_default(), value))
}

pub(crate) fn list_add(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (list, value) = list_and_value(arguments, "list_add", "in_add_value")?;
    match list.trim_matches(' ').trim_matches(',') {
        "" => bounded(value),
        list => bounded(format!("{list},{value}")),
    }
}

/// MySQL cuts the value out of the text, also out of one that begins with it: of `AB,A` less `A` it leaves `B`.
pub(crate) fn list_drop(arguments: Arguments<'_>, _: &State) -> Result<Value, Error> {
    let (list, value) = list_and_value(arguments, "list_drop", "in_drop_value")?;
    if matches!(arguments[0], ValueRef::Null) {
        return Ok(Value::Null);
    }
    let rest: Vec<&str> = list.split(',').filter(|member| member.trim_matches(' ') != value).collect();
    bounded(rest.join(",").trim_matches(',').to_owned())
}
