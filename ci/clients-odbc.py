"""What MariaDB's ODBC driver, and so spreadsheets and reports, get from `perfschema serve`: tables, columns, keys, rows."""

import sys

import pyodbc

PORT, DRIVER = sys.argv[1], sys.argv[2]


def same(what, found, expected):
    assert found == expected, f"{what}: expected {expected}, found {found}"
    print(what)


pyodbc.pooling = False
where = f"DRIVER={DRIVER};SERVER=127.0.0.1;PORT={PORT};UID=reader;PWD=looks;DATABASE=performance_schema"
cursor = pyodbc.connect(where, autocommit=True).cursor()
same("tables", [row.table_type for row in cursor.tables(table="setup_timers", catalog="performance_schema")], ["TABLE"])
same("views", {row.table_type for row in cursor.tables(catalog="sys")}, {"VIEW"})
# By variables that the statement assigns.
columns = [(row.column_name, row.type_name, row.column_size, row.nullable) for row in cursor.columns(table="setup_timers")]
same("columns", columns, [("NAME", "VARCHAR", 64, 0), ("TIMER_NAME", "ENUM", 11, 0)])
same("numbers", [(row.column_size, row.data_type) for row in cursor.columns(table="threads", column="THREAD_ID")], [(20, -5)])
same("keys", [row.column_name for row in cursor.primaryKeys("setup_timers")], ["NAME"])
same("what tells rows apart", [row.column_name for row in cursor.rowIdColumns("setup_timers")], ["NAME"])
same("parameters", cursor.execute("SELECT NAME, 1.5, NULL FROM setup_timers WHERE NAME = ?", "wait").fetchall()[0][0], "wait")
same("rows", len(cursor.execute("SELECT * FROM setup_timers").fetchall()), 5)
