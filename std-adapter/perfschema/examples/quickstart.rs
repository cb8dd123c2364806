//! The quick start of the README: instrument a mutex, print the table.
use perfschema::{render::Grid, sync::Mutex, tables};

static COUNTER: Mutex<u64> = perfschema::mutex!("wait/synch/mutex/quickstart/COUNTER", 0);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let process = perfschema::start()?;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100_000).for_each(|_| *COUNTER.lock().unwrap() += 1));
        }
    });
    print!("{}", Grid::of(process.region(), &tables::EventsWaitsSummaryGlobalByEventName).vertical());
    Ok(())
}
