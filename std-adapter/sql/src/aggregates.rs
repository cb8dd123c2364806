//! What makes one value of many rows, where SQLite's own does otherwise.

use crate::decimal::Decimal;
use crate::functions::{MAX_TEXT, PREFIX};
use crate::numbers::to_unsigned;
use crate::state::State;
use crate::value::{self, Number};
use crate::{Error, documents, json};
use rusqlite::functions::{Aggregate, Context, FunctionFlags, WindowAggregate};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use std::collections::BTreeMap;
use std::fmt::Write;
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
    for bits in [Bits::And, Bits::Or, Bits::Xor] {
        connection.create_window_function(name(bits.name()).as_str(), 1, flags, bits)?;
    }
    let documents = Documents { state: Arc::clone(state), named: false };
    connection.create_aggregate_function(name("json_arrayagg").as_str(), 1, flags, documents)?;
    let documents = Documents { state: Arc::clone(state), named: true };
    connection.create_aggregate_function(name("json_objectagg").as_str(), 2, flags, documents)?;
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
        if let Some(number) = Number::of(context.get_raw(0)).map(|number| number.real()) {
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
        if let Some(number) = Number::of(context.get_raw(0)).map(|number| number.real()) {
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
        *one = Some(value::owned(context.get_raw(0)));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, one: Option<Option<Value>>) -> Result<Value> {
        Ok(one.flatten().unwrap_or(Value::Null))
    }
}

/// BIT_AND, BIT_OR and BIT_XOR.
#[derive(Clone, Copy)]
enum Bits {
    And,
    Or,
    Xor,
}

/// How many numbers there were, and in how many of them each bit was set: so one can be taken away again.
#[derive(Debug)]
struct BitCounts {
    numbers: u64,
    set: [u64; 64],
}

impl Default for BitCounts {
    fn default() -> BitCounts {
        BitCounts { numbers: 0, set: [0; 64] }
    }
}

impl Bits {
    fn name(self) -> &'static str {
        match self {
            Bits::And => "bit_and",
            Bits::Or => "bit_or",
            Bits::Xor => "bit_xor",
        }
    }

    fn result(self, counts: Option<&BitCounts>) -> Value {
        let none = BitCounts::default();
        let counts = counts.unwrap_or(&none);
        let is_set = |set: u64| match self {
            Bits::And => set == counts.numbers,
            Bits::Or => set > 0,
            Bits::Xor => set % 2 == 1,
        };
        let bits = counts.set.iter().enumerate().filter(|(_, set)| is_set(**set));
        value::unsigned(bits.fold(0, |bits, (bit, _)| bits | 1 << bit))
    }

    fn count(context: &Context<'_>, counts: &mut BitCounts, change: fn(u64, u64) -> u64) {
        if let Some(number) = Number::of(context.get_raw(0)).map(to_unsigned) {
            counts.numbers = change(counts.numbers, 1);
            for (bit, set) in counts.set.iter_mut().enumerate() {
                *set = change(*set, number >> bit & 1);
            }
        }
    }
}

impl Aggregate<BitCounts, Value> for Bits {
    fn init(&self, _: &mut Context<'_>) -> Result<BitCounts> {
        Ok(BitCounts::default())
    }

    fn step(&self, context: &mut Context<'_>, counts: &mut BitCounts) -> Result<()> {
        Bits::count(context, counts, u64::saturating_add);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, counts: Option<BitCounts>) -> Result<Value> {
        Ok(self.result(counts.as_ref()))
    }
}

impl WindowAggregate<BitCounts, Value> for Bits {
    fn value(&self, counts: Option<&mut BitCounts>) -> Result<Value> {
        Ok(self.result(counts.as_deref()))
    }

    fn inverse(&self, context: &mut Context<'_>, counts: &mut BitCounts) -> Result<()> {
        Bits::count(context, counts, u64::saturating_sub);
        Ok(())
    }
}

/// JSON_ARRAYAGG, and JSON_OBJECTAGG with names.
struct Documents {
    state: Arc<State>,
    named: bool,
}

/// What is collected: documents, each with its name if it has one. Of equal names the last holds.
#[derive(Debug, Default)]
struct Collected {
    array: Vec<String>,
    object: BTreeMap<(usize, String), String>,
    bytes: usize,
}

impl Documents {
    fn add(&self, context: &Context<'_>, collected: &mut Collected) -> Result<(), Error> {
        let document = value::text(context.get_raw(usize::from(self.named))).unwrap_or_default();
        let mut bytes = document.len() + 2;
        if self.named {
            let name = value::text(context.get_raw(0)).ok_or_else(documents::null_name)?;
            bytes += 2 * name.len() + 4;
            collected.object.insert(json::key(name), document);
        } else {
            collected.array.push(document);
        }
        collected.bytes += bytes;
        // There may be many of them at once in one statement.
        self.state.collect(bytes)?;
        if collected.bytes > MAX_TEXT { Err(Error::too_long()) } else { Ok(()) }
    }
}

impl Aggregate<Collected, Value> for Documents {
    fn init(&self, _: &mut Context<'_>) -> Result<Collected> {
        Ok(Collected::default())
    }

    fn step(&self, context: &mut Context<'_>, collected: &mut Collected) -> Result<()> {
        self.add(context, collected).map_err(|error| self.state.fail(error))
    }

    fn finalize(&self, _: &mut Context<'_>, collected: Option<Collected>) -> Result<Value> {
        let Some(collected) = collected else { return Ok(Value::Null) };
        self.state.give_back(collected.bytes);
        if !self.named {
            return Ok(Value::Text(format!("[{}]", collected.array.join(", "))));
        }
        let mut text = String::from("{");
        for (index, ((_, name), document)) in collected.object.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let _ = write!(text, "{comma}{}: {document}", json::quoted(name));
        }
        text.push('}');
        Ok(Value::Text(text))
    }
}

/// SUM and AVG, exact over exact numbers.
struct Sum {
    state: Arc<State>,
    average: bool,
}

#[derive(Debug, Default)]
struct Total {
    integers: i128,
    /// Of those that have a point, and of what found no room among the integers.
    decimals: Option<Decimal>,
    reals: f64,
    /// How many of the values were fractions.
    real_count: u64,
    count: u64,
}

impl Total {
    /// Another value is added, or one that was is taken away again.
    fn change(&mut self, value: ValueRef<'_>, is_added: bool) -> Result<(), Error> {
        let exact = match (value, Number::of(value)) {
            (_, None) => return Ok(()),
            (ValueRef::Text(_), Some(number)) | (_, Some(number @ Number::Real(_))) => Err(number.real()),
            (_, Some(number)) => Ok(number),
        };
        let step = |count: u64| if is_added { count.saturating_add(1) } else { count.saturating_sub(1) };
        self.count = step(self.count);
        match exact {
            Err(real) => {
                self.reals += if is_added { real } else { -real };
                self.real_count = step(self.real_count);
            }
            Ok(Number::Integer(number)) => {
                let sum = if is_added { self.integers.checked_add(number) } else { self.integers.checked_sub(number) };
                match sum {
                    Some(sum) => self.integers = sum,
                    None => self.change_decimals(&number.into(), is_added)?,
                }
            }
            Ok(number) => self.change_decimals(&number.decimal().unwrap_or_else(|| 0.into()), is_added)?,
        }
        Ok(())
    }

    fn change_decimals(&mut self, number: &Decimal, is_added: bool) -> Result<(), Error> {
        let sum = self.decimals.take().unwrap_or_else(|| 0.into());
        self.decimals = Some(if is_added { sum.add(number) } else { sum.subtract(number) }?);
        Ok(())
    }

    fn exact(&self) -> Result<Decimal, Error> {
        let integers = Decimal::from(self.integers);
        self.decimals.as_ref().map_or(Ok(integers.clone()), |decimals| decimals.add(&integers))
    }

    fn result(&self, average: bool) -> Result<Value, Error> {
        if self.count == 0 {
            return Ok(Value::Null);
        }
        let sum = self.exact()?;
        if self.real_count > 0 {
            let sum = sum.real() + self.reals;
            return Number::Real(if average { sum / self.count as f64 } else { sum }).store();
        }
        if average {
            return sum.divide(&i128::from(self.count).into()).map_or(Ok(Value::Null), |average| Ok(average?.store()));
        }
        Ok(sum.store())
    }
}

impl Sum {
    fn result(&self, total: Option<&Total>) -> Result<Value> {
        total.map_or(Ok(Value::Null), |total| total.result(self.average)).map_err(|error| self.state.fail(error))
    }
}

impl Aggregate<Total, Value> for Sum {
    fn init(&self, _: &mut Context<'_>) -> Result<Total> {
        Ok(Total::default())
    }

    fn step(&self, context: &mut Context<'_>, total: &mut Total) -> Result<()> {
        total.change(context.get_raw(0), true).map_err(|error| self.state.fail(error))
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
        total.change(context.get_raw(0), false).map_err(|error| self.state.fail(error))
    }
}
