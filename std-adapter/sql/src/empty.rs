//! Tables that have no rows: their columns, as `empty.sql` declares them.

use crate::catalog::Column;
use crate::parse;
use perfschema::core::table::SqlType;
use sqlparser::ast::{CharacterLength, ColumnOption, DataType, EnumMember, ExactNumberInfo, Statement, TimezoneInfo};
use std::sync::LazyLock;

/// What people are told of each.
pub(crate) const DOC: &str = "Always empty: MySQL has it, and a program has nothing of the kind";

/// A table, and where it is.
pub(crate) struct Empty {
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
}

/// All of them.
pub(crate) static ALL: LazyLock<Vec<Empty>> = LazyLock::new(|| {
    parse::statements(include_str!("empty.sql")).map(|statement| table(&statement).expect("empty.sql is tested")).collect()
});

fn table(statement: &Statement) -> Option<Empty> {
    let Statement::CreateTable(table) = statement else { return None };
    let [schema, name] = table.name.0.as_slice() else { return None };
    let columns = table.columns.iter().map(|column| {
        let nullable = !column.options.iter().any(|option| option.option == ColumnOption::NotNull);
        Some(Column::new(&column.name.value, sql_type(&column.data_type)?, nullable))
    });
    Some(Empty {
        schema: schema.as_ident()?.value.clone(),
        name: name.as_ident()?.value.clone(),
        columns: columns.collect::<Option<_>>()?,
    })
}

fn sql_type(declared: &DataType) -> Option<SqlType> {
    let length = |length: &Option<CharacterLength>| match length {
        Some(CharacterLength::IntegerLength { length, .. }) => u16::try_from(*length).ok(),
        _ => None,
    };
    let digits = |digits: &Option<u64>| u8::try_from(digits.unwrap_or(0)).ok();
    Some(match declared {
        DataType::Varchar(characters) => SqlType::Varchar(length(characters)?),
        DataType::Char(characters) => SqlType::Char(length(characters)?),
        DataType::LongText => SqlType::Longtext,
        DataType::BigInt(None) => SqlType::Bigint,
        DataType::BigIntUnsigned(None) => SqlType::BigintUnsigned,
        DataType::Int(None) => SqlType::Int,
        DataType::IntUnsigned(None) => SqlType::IntUnsigned,
        DataType::Double(_) => SqlType::Double,
        DataType::Decimal(ExactNumberInfo::PrecisionAndScale(digits, scale)) => {
            SqlType::Decimal(u8::try_from(*digits).ok()?, u8::try_from(*scale).ok()?)
        }
        DataType::Datetime(fraction) => SqlType::Datetime(digits(fraction)?),
        DataType::Timestamp(fraction, TimezoneInfo::None) => SqlType::Timestamp(digits(fraction)?),
        DataType::Enum(members, _) => SqlType::Enum(names(members)?),
        _ => return None,
    })
}

/// Kept as long as the process: what is declared has its names from the source.
fn names(members: &[EnumMember]) -> Option<&'static [&'static str]> {
    let names = members.iter().map(|member| match member {
        EnumMember::Name(name) => Some(&*name.clone().leak()),
        EnumMember::NamedValue(..) => None,
    });
    Some(names.collect::<Option<Vec<_>>>()?.leak())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{self, Catalog};
    use std::collections::BTreeSet;

    #[test]
    fn each_is_in_the_catalog_once() {
        assert!(ALL.len() > 30 && ALL.iter().all(|table| !table.columns.is_empty()));
        let catalog = Catalog::new();
        let names = catalog.relations.iter().map(|relation| (relation.schema, relation.name.to_ascii_lowercase()));
        assert_eq!(names.collect::<BTreeSet<_>>().len(), catalog.relations.len());
        for table in ALL.iter() {
            assert!(catalog.find(&table.schema, &table.name).is_some(), "{}", table.name);
            assert_eq!(catalog::schema(&table.schema), Some(&*table.schema));
            let names: BTreeSet<_> = table.columns.iter().map(|column| &column.name).collect();
            assert_eq!(names.len(), table.columns.len(), "{}", table.name);
        }
    }

    #[test]
    fn every_type_is_known() {
        let types: BTreeSet<String> =
            ALL.iter().flat_map(|table| &table.columns).map(|column| column.sql_type.to_string()).collect();
        for found in
            ["bigint unsigned", "char(64)", "datetime", "enum('ON','OFF','CONNECTING')", "int", "longtext", "timestamp(6)"]
        {
            assert!(types.contains(found), "{found}: {types:?}");
        }
        let other = parse::parse(parse::tokens("CREATE TABLE x.y (z blob)").unwrap(), "").unwrap();
        assert!(table(&other).is_none());
    }
}
