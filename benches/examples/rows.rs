//! A shared region with as many rows as it is told, for `benches/scrape`: `rows WAITS FILES INSTANCES MEMORY`, instruments of waits and of
//! files among them, files, instruments of memory. It stays until its input ends.

use perfschema_core::{Actor, ActorIdentity, InstrumentName, MemoryChange, Setting, Size};
use std::io::Read;

fn main() {
    let numbers: Vec<u32> = std::env::args().skip(1).map(|number| number.parse().expect("a number")).collect();
    let [waits, files, instances, memory] = numbers[..] else { panic!("expected WAITS FILES INSTANCES MEMORY") };
    let builder = perfschema::builder().share(true).everything(true);
    let sizes = [
        (Size::MaxMutexClasses, waits),
        (Size::MaxFileClasses, files),
        (Size::MaxFileInstances, instances),
        (Size::MaxMemoryClasses, memory),
    ];
    let builder = sizes.into_iter().fold(builder, |builder, (size, value)| builder.size(size, value));
    let region = builder.start().expect("nothing started it before").region();

    let register =
        |name: String| region.register(InstrumentName::new(&name).expect("a name"), Setting::ON).expect("there is room");
    let classes: Vec<_> = (0..files).map(|number| register(format!("wait/io/file/rows/file_{number}"))).collect();
    for number in 0..instances {
        let class = classes[number as usize % classes.len()];
        let path = format!("/var/lib/rows/table_of_some_length_{number}.ibd");
        region.file_opened(region.refer_to_file(class, path.as_bytes()).expect("there is room"));
    }
    let actor = Actor::attach(region, &ActorIdentity::default());
    for number in 0..memory {
        let class = register(format!("memory/rows/memory_{number}"));
        actor.count_memory(region.switches(class), class, MemoryChange::allocated(100));
    }
    for number in region.classes().count()..(waits + memory) as usize {
        register(format!("wait/synch/mutex/rows/LOCK_{number}"));
    }
    println!("{}", std::process::id());
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
