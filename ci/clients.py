"""What PyMySQL gets from `perfschema serve`. Started by ci/clients with the port, and with a certificate if it is to encrypt."""

import datetime
import decimal
import sys
import threading
from importlib import metadata

import pymysql
from pymysql.constants import CLIENT, FIELD_TYPE

PORT = int(sys.argv[1])
ENDLESS = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"


TLS = {"ssl": {"ca": sys.argv[2]}} if len(sys.argv) > 2 else {}


def connect(user="reader", password="looks", **more):
    return pymysql.connect(host="127.0.0.1", port=PORT, user=user, password=password, **{**TLS, **more})


def fails(number, action):
    try:
        action()
    except pymysql.MySQLError as error:
        assert error.args[0] == number, error
    else:
        raise AssertionError(f"expected error {number}")


# Both ways to prove a password; an account that has only one of them; wrong ones.
for user, password in [("reader", "looks"), ("controller", "changes"), ("old", "native")]:
    with connect(user, password) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT CURRENT_USER(), CONNECTION_ID()")
        assert cursor.fetchone() == (f"{user}@localhost", connection.thread_id())
for user, password in [("reader", "changes"), ("reader", ""), ("old", "x"), ("nobody", "looks"), ("", "")]:
    fails(1045, lambda: connect(user, password))
fails(1049, lambda: connect(database="nothing"))

reader = connect(database="performance_schema")
cursor = reader.cursor()
cursor.execute("SHOW STATUS LIKE 'Ssl_version'")
assert cursor.fetchone() == ("Ssl_version", "TLSv1.3" if TLS else "")
if TLS:
    fails(3159, lambda: connect(ssl=None, ssl_disabled=True))
    # Enough rows for many of TLS' records.
    cursor.execute("SELECT a.*, b.name FROM setup_instruments a, setup_instruments b, global_variables c")
    assert len({row[0] for row in cursor.fetchall()}) > 1

# Values and their types.
cursor.execute("SELECT 18446744073709551615 AS big, -1, 1.5, 'größe', NULL, (SELECT name FROM setup_timers WHERE name = 'wait') AS name")
assert cursor.fetchone() == (18446744073709551615, -1, decimal.Decimal("1.5"), "größe", None, "wait")
types = [column[1] for column in cursor.description]
assert types[0] == FIELD_TYPE.LONGLONG and types[3] == FIELD_TYPE.VAR_STRING, types
cursor.execute("SELECT JSON_OBJECT('a', 'größe')")
assert cursor.fetchone() == ('{"a": "größe"}',) and cursor.description[0][1] == FIELD_TYPE.JSON, cursor.description
cursor.execute("SELECT thread_id, name FROM threads ORDER BY thread_id")
rows = cursor.fetchall()
assert len(rows) > 1 and all(isinstance(id, int) and isinstance(name, str) for id, name in rows), rows
assert cursor.execute("SELECT name FROM setup_instruments WHERE name LIKE %s", ("wait/synch/mutex/%",)) > 0
cursor.execute("SELECT %s", ("it's; \\ \"quoted\"",))
assert cursor.fetchone() == ("it's; \\ \"quoted\"",)

# Exact numbers are objects, too; an average has four digits more, and a sum may be larger than all whole numbers.
cursor.execute("SELECT 0.1 + 0.2, 1 / 3, 2 / 3 * 100, SUM(x), AVG(x), ROUND(SUM(x) / 3, 2), CAST('12.345' AS DECIMAL(5,2)), 1.5e0 "
               "FROM (SELECT 18446744073709551615 AS x UNION ALL SELECT 18446744073709551614) AS t")
exact = ["0.3", "0.3333", "66.6667", "36893488147419103229", "18446744073709551614.5000", "12297829382473034409.67", "12.35"]
found = cursor.fetchone()
assert [str(number) for number in found[:-1]] == exact and {type(number) for number in found} == {decimal.Decimal, float}, found
assert [column[1] for column in cursor.description] == [FIELD_TYPE.NEWDECIMAL] * 7 + [FIELD_TYPE.DOUBLE], cursor.description
assert [column[5] for column in cursor.description][:5] == [1, 4, 4, 0, 4], cursor.description
cursor.execute("SELECT %s = 1.50, SUM(count_star) / 1e12, AVG(count_star) FROM events_waits_summary_global_by_event_name", (decimal.Decimal("1.5"),))
same, teras, average = cursor.fetchone()
assert same == 1 and isinstance(teras, float) and isinstance(average, decimal.Decimal) and average > 0, (same, teras, average)

# Moments are objects; those of metrics, and of statements that the demo's queries are.
cursor.execute("SELECT NOW(), CURDATE(), TIME'-01:30:00.5', FROM_UNIXTIME(%s), CAST('2026-11-24 12:30:00.25' AS DATETIME(3))", (86400,))
now, today, length, second_day, fraction = cursor.fetchone()
assert isinstance(now, datetime.datetime) and today == now.date(), (now, today)
assert length == datetime.timedelta(seconds=-5400.5) and second_day == datetime.datetime(1970, 1, 2), (length, second_day)
assert fraction == datetime.datetime(2026, 11, 24, 12, 30, 0, 250000), fraction
cursor.execute("SELECT first_seen, last_seen FROM events_statements_summary_by_digest WHERE last_seen > %s", (datetime.datetime(2026, 1, 1),))
assert [column[1] for column in cursor.description] == [FIELD_TYPE.TIMESTAMP] * 2, cursor.description
seen = cursor.fetchall()
assert seen and all(isinstance(first, datetime.datetime) and first <= last for first, last in seen), seen
cursor.execute("SELECT time_enabled, time_reset FROM information_schema.innodb_metrics WHERE status = 'enabled'")
assert all(isinstance(enabled, datetime.datetime) and reset is None for enabled, reset in cursor.fetchall())

# Errors, after which the connection goes on.
fails(1146, lambda: cursor.execute("SELECT * FROM nothing"))
fails(1064, lambda: cursor.execute("SELEC 1"))
fails(1064, lambda: cursor.execute("SELECT 1; SELECT 2"))
fails(1142, lambda: cursor.execute("UPDATE setup_instruments SET enabled = 'NO'"))
fails(1142, lambda: cursor.execute("TRUNCATE events_waits_history_long"))
fails(1094, lambda: cursor.execute("KILL 4000000000"))
reader.ping(reconnect=False)
reader.select_db("information_schema")
assert cursor.execute("SELECT * FROM schemata") > 1

# Several statements in one packet, if the client says so.
with connect(client_flag=CLIENT.MULTI_STATEMENTS) as connection, connection.cursor() as several:
    several.execute("SELECT 1; SELECT 2; SELECT * FROM nothing.nothing; SELECT 4")
    assert several.fetchall() == ((1,),)
    assert several.nextset() and several.fetchall() == ((2,),)
    fails(1049, several.nextset)
    assert several.execute("SELECT 5") == 1

# What a controller changes is changed for everybody; rows that are already so are found, not changed.
with connect("controller", "changes", database="performance_schema") as connection, connection.cursor() as control:
    assert control.execute("UPDATE setup_timers SET timer_name = 'NANOSECOND' WHERE name = 'wait'") == 1
    assert control.execute("UPDATE setup_timers SET timer_name = 'NANOSECOND' WHERE name = 'wait'") == 0
    cursor.execute("SELECT timer_name FROM performance_schema.setup_timers WHERE name = 'wait'")
    assert cursor.fetchall() == (("NANOSECOND",),)
    control.execute("UPDATE setup_timers SET timer_name = 'CYCLE' WHERE name = 'wait'")
with connect("controller", "changes", client_flag=CLIENT.FOUND_ROWS) as connection, connection.cursor() as control:
    assert control.execute("UPDATE performance_schema.setup_timers SET timer_name = 'CYCLE' WHERE name = 'wait'") == 1


# KILL: the statement, then the connection; a reader kills its own only.
def killed(statement):
    victim = connect()
    result = []

    def run():
        try:
            victim.cursor().execute("SET cte_max_recursion_depth = 4294967295")
            victim.cursor().execute(ENDLESS)
        except pymysql.MySQLError as error:
            result.append(error.args[0])

    thread = threading.Thread(target=run)
    thread.start()
    listed = False
    while not listed:
        assert thread.is_alive(), result
        cursor.execute("SHOW PROCESSLIST")
        listed = any(row[0] == victim.thread_id() and row[7] == ENDLESS for row in cursor.fetchall())
    cursor.execute(statement % victim.thread_id())
    thread.join()
    assert result == [1317], result
    return victim


killed("KILL QUERY %s").ping(reconnect=False)
fails(2013, lambda: killed("KILL %s").ping(reconnect=False))
itself = connect()
fails(1317, lambda: itself.cursor().execute(f"KILL QUERY {itself.thread_id()}"))
itself.ping(reconnect=False)
fails(1317, lambda: itself.cursor().execute(f"KILL {itself.thread_id()}"))
fails(2013, lambda: itself.ping(reconnect=False))
other = connect("controller", "changes")
fails(1095, lambda: cursor.execute(f"KILL {other.thread_id()}"))
cursor.execute("SELECT user, command FROM information_schema.processlist WHERE info LIKE '%processlist%'")
assert cursor.fetchall() == (("reader", "Query"),)
cursor.execute("SHOW PROCESSLIST")
assert {row[1] for row in cursor.fetchall()} == {"reader"}
other.cursor().execute("SHOW PROCESSLIST")

# A statement that is longer than allowed ends the connection, which others do not notice.
fails(1153, lambda: connect().cursor().execute("SELECT '" + "x" * (20 << 20) + "'"))
cursor.execute("SELECT 1")
print("PyMySQL", metadata.version("PyMySQL"))
