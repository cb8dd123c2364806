//! Each program, and what weakening each of its orderings does to it; `ci/orderings` reads the second table.
//!
//! ```text
//! cargo run -p perfschema-loom-tests --example rc11
//! ```

use perfschema_loom_tests::rc11::{protocols::PROGRAMS, weakenings};

fn main() {
    println!("{:<20} {:>10}  outcomes, none of which is: forbidden", "program", "executions");
    for program in PROGRAMS {
        let explored = program.explore(&[]);
        let outcomes = explored.outcomes().join(", ");
        println!("{:<20} {:>10}  {outcomes}: {}", program.name, explored.executions, program.forbidden.join(", "));
    }
    println!("\n{:<8}  {:<48}  {:<42}  an execution that reaches what is forbidden", "label", "instead", "breaks");
    for weakening in weakenings(PROGRAMS) {
        let names: Vec<_> = weakening.breaks.iter().map(|(program, _)| *program).collect();
        let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        let example = weakening.breaks.first().map_or("", |(_, example)| example);
        println!("{:<8}  {:<48}  {names:<42}  {example}", weakening.labels, weakening.form);
    }
}
