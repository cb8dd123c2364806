"""What Oracle's Connector/Python gets from `perfschema serve`, in Python alone and over libmysqlclient. Started by ci/clients with the port,
and with a certificate if it is to encrypt."""

import sys
import warnings
from datetime import datetime, timedelta
from decimal import Decimal

import mysql.connector
from mysql.connector import FieldType
from mysql.connector.constants import FieldFlag
from mysql.connector.pooling import MySQLConnectionPool

PORT = int(sys.argv[1])
TLS = {"ssl_ca": sys.argv[2], "ssl_verify_cert": True} if len(sys.argv) > 2 else {}
assert mysql.connector.HAVE_CEXT, "libmysqlclient is part of the package"


def fails(number, action):
    try:
        action()
    except mysql.connector.Error as error:
        assert error.errno == number, error
    else:
        raise AssertionError(f"expected error {number}")


def check(pure):
    def connect(user="reader", password="looks", **more):
        plain = {} if TLS else {"ssl_disabled": True}
        given = dict(host="127.0.0.1", port=PORT, user=user, password=password, use_pure=pure)
        return mysql.connector.connect(**{**given, **TLS, **plain, **more})

    for user, password in [("reader", "looks"), ("controller", "changes")]:
        connect(user, password).close()
    fails(1045, lambda: connect("reader", "wrong"))
    fails(1049, lambda: connect(database="nothing"))

    connection = connect("controller", "changes", database="performance_schema", autocommit=False)

    def rows(statement, parameters=(), **kind):
        with connection.cursor(**kind) as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchall()

    # Types, flags, prepared statements.
    with connection.cursor() as cursor:
        cursor.execute("SELECT thread_id, name, processlist_id FROM threads")
        assert all(isinstance(id, int) and isinstance(name, str) for id, name, _ in cursor.fetchall())
        number, name, nullable = cursor.description
        assert number[1] == FieldType.LONGLONG and number[7] & FieldFlag.UNSIGNED and number[7] & FieldFlag.NOT_NULL, number
        assert name[1] == FieldType.VAR_STRING and not nullable[7] & FieldFlag.NOT_NULL, (name, nullable)
    found = rows("SELECT ?, ?, ?, ?", (-1, 1.5, "größe", None), prepared=True)
    assert [tuple(row) for row in found] == [(-1, 1.5, "größe", None)], found
    fails(1146, lambda: rows("SELECT * FROM nothing"))

    # Exact numbers, too.
    third = "SELECT 1 / 3, SUM(18446744073709551615), %s + 0.25, %s = 1.50"
    for prepared in (False, True):
        # Over libmysqlclient the package corrupts its memory when it binds a second Decimal, whichever server it is.
        second = Decimal("1.5") if pure or not prepared else "1.5"
        found = [tuple(row) for row in rows(third, (Decimal("1.50"), second), prepared=prepared)]
        assert found == [(Decimal("0.3333"), Decimal(2**64 - 1), Decimal("1.75"), 1)] and str(found[0][0]) == "0.3333", found

    # Moments are objects in both protocols, there and back.
    moment, length = datetime(2026, 11, 24, 12, 30, 0, 250000), timedelta(hours=30)
    statement = "SELECT CAST('2026-11-24 12:30:00.25' AS DATETIME(6)), DATE'2026-11-24', TIME'30:00:00', NULLIF(CURDATE(), CURDATE())"
    for prepared in (False, True):
        assert [tuple(row) for row in rows(statement, prepared=prepared)] == [(moment, moment.date(), length, None)]
        digests = "SELECT first_seen, last_seen FROM events_statements_summary_by_digest WHERE last_seen > %s AND first_seen <= last_seen"
        seen = rows(digests, (datetime(2026, 1, 1),), prepared=prepared)
        assert seen and all(isinstance(value, datetime) for row in seen for value in row), seen
        fraction = "SELECT TIMESTAMP'2026-11-24 12:30:00.25' = %s, TIME'30:00:00' = %s"
        # Over libmysqlclient the package sends other bytes than those of a timedelta.
        sent = length if pure or not prepared else "30:00:00"
        assert [tuple(row) for row in rows(fraction, (moment, sent), prepared=prepared)] == [(1, 1)]

    # Transactions: the client asks what the last answer said of them.
    assert not connection.autocommit and not connection.in_transaction
    connection.start_transaction(isolation_level="READ COMMITTED", readonly=True)
    assert connection.in_transaction
    connection.commit()
    assert not connection.in_transaction

    # A session is begun anew, with variables whose names are quoted.
    connection.cmd_reset_connection()
    connection.reset_session({"kept": 7}, {"sql_mode": "ANSI"})
    assert rows("SELECT @kept, @@sql_mode, DATABASE()") == [(7, "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI", "performance_schema")]
    connection.cmd_change_user("reader", "looks", "sys")
    assert rows("SELECT CURRENT_USER(), DATABASE()") == [("reader@localhost", "sys")]
    connection.ping()
    connection.close()

    # Compressed, in both directions.
    with connect(compress=True) as packed, packed.cursor() as cursor:
        text = "größe " * 20_000
        cursor.execute("SELECT VARIABLE_VALUE, %s, REPEAT('w', 300000) FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Compression'", (text,))
        assert cursor.fetchall() == [("ON", text, "w" * 300_000)]

    # Warnings are asked for behind each statement that has some.
    with connect(get_warnings=True) as warned, warned.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS test.nothing")
        assert cursor.warnings == [("Note", 1051, "Unknown table 'test.nothing'")], cursor.warnings

    pool = MySQLConnectionPool(
        pool_name=f"pool{pure}", pool_size=2, host="127.0.0.1", port=PORT, user="reader", password="looks", use_pure=pure, **TLS
    )
    for _ in range(5):
        with pool.get_connection() as pooled, pooled.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchall() == [(1,)]


# They are looked at.
warnings.simplefilter("ignore")
for pure in (True, False):
    check(pure)
print("Connector/Python", mysql.connector.__version__)
