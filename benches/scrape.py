"""How long a scrape takes, of perfschema's endpoint and of a MariaDB server with as many rows. Started by benches/scrape."""

import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack

import pymysql

PROGRAMS, WORK = sys.argv[1], sys.argv[2]
PERFSCHEMA, ROUNDS = f"{PROGRAMS}/perfschema", 100
# Collectors, and the rows that each asks for.
COLLECTORS = {
    "eventswaits": "SELECT COUNT(*) FROM performance_schema.events_waits_summary_global_by_event_name",
    "file_events": "SELECT COUNT(*) FROM performance_schema.file_summary_by_event_name",
    "file_instances": "SELECT COUNT(*) FROM performance_schema.file_summary_by_instance",
    "memory_events": "SELECT COUNT(*) FROM performance_schema.memory_summary_global_by_event_name WHERE COUNT_ALLOC > 0",
}
until_end = ExitStack()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(*command, **more):
    """A server, until the end."""
    log = open(f"{WORK}/{os.path.basename(command[0])}.log", "ab")
    process = subprocess.Popen(command, stderr=log, **{"stdout": log, **more})
    until_end.callback(process.wait)
    until_end.callback(process.terminate)
    return process


def until(what, action):
    deadline = time.monotonic() + 60
    while True:
        try:
            return action()
        except (OSError, pymysql.err.OperationalError) as error:
            assert time.monotonic() < deadline, f"{what}: {error}"
            time.sleep(0.05)


def counts(port):
    """How many rows each collector asks for; the first question may itself be an event that was not there before."""
    connection = until("it listens", lambda: pymysql.connect(host="127.0.0.1", port=port, user="reader", password="looks"))
    with connection, connection.cursor() as cursor:
        found = []
        for statement in COLLECTORS.values():
            cursor.execute(statement)
            found.append(cursor.fetchone()[0])
        return found


def mariadb():
    port, data = free_port(), f"{WORK}/mariadb"
    subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root", "--skip-test-db"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(f"{WORK}/init.sql", "w") as file:
        file.write("CREATE USER reader@localhost IDENTIFIED BY 'looks';\nGRANT ALL ON *.* TO reader@localhost;\n")
    start("mariadbd", "--no-defaults", f"--datadir={data}", "--user=root", f"--socket={WORK}/mariadb.sock", f"--port={port}",
          "--bind-address=127.0.0.1", f"--init-file={WORK}/init.sql", "--performance-schema=ON", "--performance-schema-instrument=%=ON")
    return port


def perfschema(rows):
    program = start(f"{PROGRAMS}/examples/rows", *map(str, rows), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    until_end.callback(program.stdin.close)
    pid, port = program.stdout.readline().decode().strip(), free_port()
    line = subprocess.run([PERFSCHEMA, "account", "reader", "reader"], input=b"looks\n", check=True, capture_output=True).stdout
    with open(os.open(f"{WORK}/accounts", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(line)
    start(PERFSCHEMA, "serve", pid, "--mysql", f"127.0.0.1:{port}", "--accounts", f"{WORK}/accounts")
    return port


def exporter(port):
    listen = free_port()
    environment = {**os.environ, "DATA_SOURCE_NAME": f"reader:looks@(127.0.0.1:{port})/"}
    start("prometheus-mysqld-exporter", f"--web.listen-address=127.0.0.1:{listen}",
          *[f"--collect.perf_schema.{name}" for name in COLLECTORS], env=environment)
    chosen = "&".join(f"collect[]=perf_schema.{name}" for name in COLLECTORS)
    return f"http://127.0.0.1:{listen}/metrics?{chosen}"


def scrape(url):
    started = time.perf_counter()
    with urllib.request.urlopen(url, timeout=20) as answer:
        text = answer.read()
    taken = time.perf_counter() - started
    return taken * 1000, sum(line.startswith(b"mysql_perf_schema_") for line in text.splitlines())


with until_end:
    theirs = mariadb()
    rows = counts(theirs)
    ours = perfschema(rows)
    found = counts(ours)
    assert all(a >= b for a, b in zip(found, rows)), f"{found} rows, MariaDB has {rows}"
    urls = [exporter(ours), exporter(theirs)]
    for url in urls:
        until("the exporter listens", lambda: scrape(url))
    # One after the other: what else the machine does disturbs both alike.
    pairs = [[scrape(url) for url in urls] for _ in range(ROUNDS)]
    values = [max(scraped[1] for scraped in side) for side in zip(*pairs)]
    ms = [statistics.median(scraped[0] for scraped in side) for side in zip(*pairs)]
    ratio = statistics.median(ours[0] / theirs[0] for ours, theirs in pairs)
    print(f"rows of {', '.join(COLLECTORS)}: {found}; of MariaDB {rows}")
    print(f"scrape: {ms[0]:.1f} ms, {values[0]} values; of MariaDB {ms[1]:.1f} ms, {values[1]} values: {ratio:.2f} times (at most 1)")
sys.exit(ratio > 1)
