//! What makes one value of many rows, where SQLite's own does otherwise.

use crate::Error;
use crate::functions::PREFIX;
use crate::state::State;
use crate::value::Number;
use rusqlite::functions::{Aggregate, Context, FunctionFlags, WindowAggregate};
use rusqlite::types::Value;
use rusqlite::{Connection, Result};
use std::sync::Arc;

pub(crate) fn register(connection: &Connection, state: &Arc<State>, flags: FunctionFlags) -> Result<()> {
    let name = |name: &str| format!("{PREFIX}{name}");
    for (sum, average) in [("sum", false), ("avg", true)] {
        connection.create_window_function(name(sum).as_str(), 1, flags, Sum { state: Arc::clone(state), average })?;
    }
    for (names, root, sample) in [
        (["std", "stddev", "stddev_pop"].as_slice(), true, false),
        (&["stddev_samp"], true, true),
        (&["variance", "var_pop"], false, false),
        (&["var_samp"], false, true),
    ] {
        for spread in names {
            connection.create_window_function(name(spread).as_str(), 1, flags, Spread { root, sample })?;
        }
    }
    connection.create_aggregate_function(name("single").as_str(), 1, flags, Single(Arc::clone(state)))
}

/// STDDEV and VARIANCE, of all there is or of a sample.
struct Spread {
    root: bool,
    sample: bool,
}

/// Welford's: the mean so far, and the squares of the distances to it.
#[derive(Debug, Default)]
struct Distances {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Spread {
    fn result(&self, distances: Option<&Distances>) -> Value {
        let Some(distances) = distances else { return Value::Null };
        let count = distances.count - f64::from(u8::from(self.sample));
        if count < 1.0 {
            return Value::Null;
        }
        let variance = distances.squares.max(0.0) / count;
        Value::Real(if self.root { variance.sqrt() } else { variance })
    }
}

impl Aggregate<Distances, Value> for Spread {
    fn init(&self, _: &mut Context<'_>) -> Result<Distances> {
        Ok(Distances::default())
    }

    fn step(&self, context: &mut Context<'_>, distances: &mut Distances) -> Result<()> {
        if let Some(number) = Number::of(context.get_raw(0)).map(Number::real) {
            distances.count += 1.0;
            let before = number - distances.mean;
            distances.mean += before / distances.count;
            distances.squares += before * (number - distances.mean);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, distances: Option<Distances>) -> Result<Value> {
        Ok(self.result(distances.as_ref()))
    }
}

impl WindowAggregate<Distances, Value> for Spread {
    fn value(&self, distances: Option<&mut Distances>) -> Result<Value> {
        Ok(self.result(distances.as_deref()))
    }

    fn inverse(&self, context: &mut Context<'_>, distances: &mut Distances) -> Result<()> {
        if let Some(number) = Number::of(context.get_raw(0)).map(Number::real) {
            if distances.count <= 1.0 {
                *distances = Distances::default();
                return Ok(());
            }
            let with = number - distances.mean;
            distances.count -= 1.0;
            distances.mean -= with / distances.count;
            distances.squares -= with * (number - distances.mean);
        }
        Ok(())
    }
}

/// The one value that a scalar subquery has.
struct Single(Arc<State>);

impl Aggregate<Option<Value>, Value> for Single {
    fn init(&self, _: &mut Context<'_>) -> Result<Option<Value>> {
        Ok(None)
    }

    fn step(&self, context: &mut Context<'_>, one: &mut Option<Value>) -> Result<()> {
        if one.is_some() {
            return Err(self.0.fail(Error::several_rows()));
        }
        *one = Some(Value::try_from(context.get_raw(0)).unwrap_or(Value::Null));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, one: Option<Option<Value>>) -> Result<Value> {
        Ok(one.flatten().unwrap_or(Value::Null))
    }
}

/// SUM and AVG, exact over unsigned numbers.
struct Sum {
    state: Arc<State>,
    average: bool,
}

#[derive(Debug, Default)]
struct Total {
    integers: i128,
    reals: f64,
    /// How many of the values were fractions.
    real_count: u64,
    count: u64,
}

impl Sum {
    fn result(&self, total: Option<&Total>) -> Result<Value> {
        let Some(total) = total.filter(|total| total.count > 0) else { return Ok(Value::Null) };
        let sum = if total.real_count > 0 {
            Number::Real(total.integers as f64 + total.reals)
        } else {
            Number::Integer(total.integers)
        };
        let result = if self.average { Number::Real(sum.real() / total.count as f64) } else { sum };
        result.store().map_err(|error| self.state.fail(error))
    }
}

impl Aggregate<Total, Value> for Sum {
    fn init(&self, _: &mut Context<'_>) -> Result<Total> {
        Ok(Total::default())
    }

    fn step(&self, context: &mut Context<'_>, total: &mut Total) -> Result<()> {
        match Number::of(context.get_raw(0)) {
            None => return Ok(()),
            Some(Number::Integer(number)) => {
                total.integers =
                    total.integers.checked_add(number).ok_or_else(|| self.state.fail(Error::out_of_range("DECIMAL")))?;
            }
            Some(Number::Real(number)) => {
                total.reals += number;
                total.real_count += 1;
            }
        }
        total.count += 1;
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, total: Option<Total>) -> Result<Value> {
        self.result(total.as_ref())
    }
}

impl WindowAggregate<Total, Value> for Sum {
    fn value(&self, total: Option<&mut Total>) -> Result<Value> {
        self.result(total.as_deref())
    }

    fn inverse(&self, context: &mut Context<'_>, total: &mut Total) -> Result<()> {
        match Number::of(context.get_raw(0)) {
            None => return Ok(()),
            Some(Number::Integer(number)) => total.integers = total.integers.saturating_sub(number),
            Some(Number::Real(number)) => {
                total.reals -= number;
                total.real_count = total.real_count.saturating_sub(1);
            }
        }
        total.count = total.count.saturating_sub(1);
        Ok(())
    }
}
