"""How long `SELECT *` of a table takes through the endpoint, over the same rows from an ordinary table. Started by benches/endpoint."""

import statistics
import sys
import time

import pymysql
from pymysql.constants import COMMAND

OURS, PLAIN, ROUNDS = "SELECT * FROM performance_schema.events_waits_history_long", "SELECT * FROM test.plain", 30

connection = pymysql.connect(host="127.0.0.1", port=int(sys.argv[1]), user="controller", password="changes")
with connection.cursor() as cursor:
    cursor.execute(f"CREATE TABLE test.plain AS {OURS}")
    cursor.execute("SELECT COUNT(*) FROM test.plain")
    [[rows]] = cursor.fetchall()


def milliseconds(statement):
    """Until the last packet, an EOF, has come; without making Python's values of it."""
    connection._execute_command(COMMAND.COM_QUERY, statement)
    started, end = time.perf_counter(), b""
    while not (end[-9:-6] == b"\x05\0\0" and end[-5:-4] == b"\xfe"):
        piece = connection._sock.recv(1 << 20)
        assert piece, "the server has closed the connection"
        end = (end + piece)[-9:]
    return (time.perf_counter() - started) * 1000


# One after the other: what else the machine does disturbs both alike.
pairs = [(milliseconds(OURS), milliseconds(PLAIN)) for _ in range(ROUNDS)]
ours, plain = (statistics.median(times) for times in zip(*pairs))
ratio = statistics.median(ours / plain for ours, plain in pairs)
print(f"{rows} rows: {ours:.1f} ms, from an ordinary table {plain:.1f} ms: {ratio:.2f} times (at most 2)")
sys.exit(ratio > 2)
