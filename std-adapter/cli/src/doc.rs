//! `perfschema doc`: the reference of the tables, written from their declarations. `docs/tables.md` is its output.

use crate::output;
use perfschema::core::table::{Column, Declaration, Rights, SCHEMA, Table};
use perfschema::tables;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Print the reference of all tables and their columns, in Markdown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> io::Result<()> {
    let mut out = output::stdout();
    out.write_all(markdown().as_bytes())?;
    out.flush()
}

fn markdown() -> String {
    let mut text = format!(
        "# Tables\n\n\
         <!-- Written by `perfschema doc`; to change it, change the declarations in core-nostd/src/tables/. -->\n\n\
         All tables are in schema `{SCHEMA}`, unless they say otherwise. Times are in picoseconds.\n\n\
         | table | what its rows are |\n|---|---|\n"
    );
    for table in tables::ALL {
        let Declaration { name, doc, .. } = table.declaration();
        let _ = writeln!(text, "| [`{name}`](#{name}) | {} |", cell(doc));
    }
    for table in tables::ALL {
        write_table(&mut text, *table);
    }
    text
}

fn write_table(text: &mut String, table: &dyn Table) {
    let declaration = table.declaration();
    let schema = if table.schema() == SCHEMA { String::new() } else { format!(" In schema `{}`.", table.schema()) };
    let rights = rights(&declaration.rights);
    let key = match declaration.primary_key {
        [] => String::new(),
        key => format!(" Primary key: `{}`.", key.join("`, `")),
    };
    let _ = write!(text, "\n## {}\n\n{}{schema}\n\nRights: {rights}.{key}\n\n", declaration.name, declaration.doc);
    write_columns(text, declaration.columns);
    if !table.invisible().is_empty() {
        text.push_str("\nColumns that `SELECT *` leaves out:\n\n");
        write_columns(text, table.invisible());
    }
}

fn write_columns(text: &mut String, columns: &[Column]) {
    text.push_str("| column | type | NULL | what it says |\n|---|---|---|---|\n");
    for column in columns {
        let null = if column.nullable { "yes" } else { "" };
        let _ = writeln!(text, "| `{}` | `{}` | {null} | {} |", column.name, column.sql_type, cell(column.doc));
    }
}

/// `SELECT, UPDATE of ENABLED and TIMED`
fn rights(rights: &Rights) -> String {
    let mut list = vec!["SELECT".to_owned()];
    if rights.truncate {
        list.push("TRUNCATE".into());
    }
    if rights.insert_delete {
        list.push("INSERT".into());
        list.push("DELETE".into());
    }
    if !rights.update.is_empty() {
        let columns: Vec<String> = rights.update.iter().map(|column| format!("`{column}`")).collect();
        list.push(format!("UPDATE of {}", columns.join(" and ")));
    }
    list.join(", ")
}

/// Text in a cell: a bar would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_sentences() {
        assert_eq!(rights(&Rights::SELECT), "SELECT");
        assert_eq!(rights(&Rights::TRUNCATE), "SELECT, TRUNCATE");
        let update = Rights { update: &["ENABLED", "TIMED"], insert_delete: true, ..Rights::SELECT };
        assert_eq!(rights(&update), "SELECT, INSERT, DELETE, UPDATE of `ENABLED` and `TIMED`");
    }

    #[test]
    fn every_table_and_column_is_there() {
        let text = markdown();
        for table in tables::ALL {
            assert!(text.contains(&format!("\n## {}\n", table.declaration().name)));
            for column in table.declaration().columns.iter().chain(table.invisible()) {
                assert!(text.contains(&format!("| `{}` | `{}` |", column.name, column.sql_type)), "{column:?}");
                assert!(!column.doc.is_empty(), "{column:?}");
            }
        }
    }
}
