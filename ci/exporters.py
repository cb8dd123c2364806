"""What exporters and collectors of metrics get from `perfschema serve`: Debian's prometheus-mysqld-exporter by SQL, Prometheus and
node_exporter from what perfschema says itself. The program that is looked at is stopped, so every value must be the tables'.

Started by ci/clients with the program's pid, the path of perfschema, the port of its MySQL endpoint and a folder to work in."""

import base64
import http.server
import itertools
import json
import os
import queue
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from urllib.parse import quote

import google.protobuf.json_format
import prometheus_client.openmetrics.parser
import prometheus_client.parser
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2

TARGET, PERFSCHEMA, MYSQL_PORT, WORK = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4]
PICOSECONDS = 10**12
# What the exporter collects: its collectors of tables that there are.
COLLECTORS = ["perf_schema.eventswaits", "perf_schema.eventsstatements", "perf_schema.eventsstatementssum", "perf_schema.file_events",
              "perf_schema.file_instances", "perf_schema.memory_events", "info_schema.innodb_metrics"]
# And of those that are always empty. It takes one that is not there for a failure.
EMPTY_COLLECTORS = ["perf_schema.tableiowaits", "perf_schema.indexiowaits", "perf_schema.tablelocks",
                    "perf_schema.replication_applier_status_by_worker", "perf_schema.replication_group_members"]
STATEMENT_FIGURES = ["errors", "warnings", "rows_affected", "rows_sent", "rows_examined", "created_tmp_disk_tables", "created_tmp_tables",
                     "select_full_join", "select_full_range_join", "select_range", "select_range_check", "select_scan",
                     "sort_merge_passes", "sort_range", "sort_rows", "sort_scan", "no_index_used", "no_good_index_used"]


def rows(table, *invisible, may_be_empty=False):
    select = f"SELECT {', '.join(['*', *invisible])} FROM {table}"
    text = subprocess.run([PERFSCHEMA, "sql", TARGET, select, "--json"], check=True, capture_output=True, text=True)
    found = [json.loads(line) for line in text.stdout.split("\n") if line]
    assert found or may_be_empty, table
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(name, *command, **more):
    """A server beside this one, until the end of the block; what it says goes to a file."""
    with open(f"{WORK}/{name}.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, **more)
    try:
        yield process
    except BaseException:
        print(f"{name} says:", open(f"{WORK}/{name}.log", errors="replace").read()[-4000:], file=sys.stderr)
        raise
    finally:
        process.terminate()
        process.wait(10)


def get(url, accept="text/plain", **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": accept, **headers}), timeout=20) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def until(what, action):
    """What an action gives, once it gives something."""
    deadline = time.monotonic() + 60
    while True:
        try:
            if found := action():
                return found
        except (OSError, urllib.error.URLError):
            pass
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def key(name, labels):
    return name, tuple(sorted(labels.items()))


def samples(text, parse=prometheus_client.parser.text_string_to_metric_families):
    found = {}
    for family in parse(text):
        for sample in family.samples:
            name = key(sample.name, sample.labels)
            assert name not in found, f"twice: {name}"
            found[name] = sample.value
    return found


def same(what, found, expected):
    different = [name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name)]
    for name in sorted(different)[:10]:
        print(f"{what}: {name}: expected {expected.get(name)}, found {found.get(name)}", file=sys.stderr)
    assert expected and not different, f"{what}: {len(different)} of {len(expected)} values differ"
    print(f"{what}: {len(expected)} values")


def seconds(picoseconds):
    return picoseconds / PICOSECONDS


# The tables, read once: the program is stopped.
waits = rows("events_waits_summary_global_by_event_name", "COUNT_TIMER_WAIT")
stages = rows("events_stages_summary_global_by_event_name", "COUNT_TIMER_WAIT")
statements = rows("events_statements_summary_global_by_event_name", "COUNT_TIMER_WAIT")
digests = rows("events_statements_summary_by_digest", "COUNT_TIMER_WAIT")
# The demo has none.
transactions = rows("events_transactions_summary_global_by_event_name", "COUNT_TIMER_READ_WRITE", "COUNT_TIMER_READ_ONLY", may_be_empty=True)
OPERATIONS = ["COUNT_TIMER_READ", "COUNT_TIMER_WRITE", "COUNT_TIMER_MISC"]
files = rows("file_summary_by_event_name", *OPERATIONS)
sockets = rows("socket_summary_by_event_name", *OPERATIONS)
instances = rows("file_summary_by_instance", *OPERATIONS)
memory = rows("memory_summary_global_by_event_name")
metrics = [row for row in rows("information_schema.innodb_metrics") if row["STATUS"] == "enabled"]
assert {row["SUBSYSTEM"] for row in metrics} >= {"index", "perfschema"}, metrics
assert sum(row["COUNT_STAR"] for row in stages) > 0, stages
assert sum(row["SUM_ROWS_EXAMINED"] for row in statements) > 0, statements
assert any("\n" in row["FILE_NAME"] and '"' in row["FILE_NAME"] for row in instances), "no file with a nasty name"


def of_the_exporter():
    expected = {}

    def put(name, value, **labels):
        expected[key(name if name.startswith("mysql_") else f"mysql_perf_schema_{name}", labels)] = float(value)

    for row in waits:
        put("events_waits_total", row["COUNT_STAR"], event_name=row["EVENT_NAME"])
        put("events_waits_seconds_total", seconds(row["SUM_TIMER_WAIT"]), event_name=row["EVENT_NAME"])
    # The parser gives every counter the ending `_total`, and takes it off again where there is one.
    put("events_statements_sum_total", sum(row["COUNT_STAR"] for row in digests))
    put("events_statements_sum_timer_wait_total", seconds(sum(row["SUM_TIMER_WAIT"] for row in digests)))
    for figure in ["lock_time", *STATEMENT_FIGURES]:
        put(f"events_statements_sum_{figure}_total", sum(row[f"SUM_{figure.upper()}"] for row in digests))
    # Those that ran outside a schema it leaves out.
    in_schemas = [row for row in digests if row["SCHEMA_NAME"] is not None]
    assert in_schemas, digests
    for row in in_schemas:
        labels = {"schema": row["SCHEMA_NAME"], "digest": row["DIGEST"], "digest_text": row["DIGEST_TEXT"][:120]}
        put("events_statements_total", row["COUNT_STAR"], **labels)
        put("events_statements_seconds_total", seconds(row["SUM_TIMER_WAIT"]), **labels)
        for figure in ["errors", "warnings", "rows_affected", "rows_sent", "rows_examined", "created_tmp_tables", "created_tmp_disk_tables",
                       "sort_merge_passes", "sort_rows", "no_index_used"]:
            put(f"events_statements_{figure.removeprefix('created_')}_total", row[f"SUM_{figure.upper()}"], **labels)
    for row in files:
        for mode in ["read", "write", "misc"]:
            labels = {"event_name": row["EVENT_NAME"], "mode": mode}
            put("file_events_total", row[f"COUNT_{mode.upper()}"], **labels)
            put("file_events_seconds_total", seconds(row[f"SUM_TIMER_{mode.upper()}"]), **labels)
            if mode != "misc":
                put("file_events_bytes_total", row[f"SUM_NUMBER_OF_BYTES_{mode.upper()}"], **labels)
    for row in instances:
        for mode in ["read", "write"]:
            labels = {"event_name": row["EVENT_NAME"], "file_name": row["FILE_NAME"], "mode": mode}
            put("file_instances_total", row[f"COUNT_{mode.upper()}"], **labels)
            # It is called `…_bytes`; the parser gives every counter its ending.
            put("file_instances_bytes_total", row[f"SUM_NUMBER_OF_BYTES_{mode.upper()}"], **labels)
    for row in memory:
        if row["COUNT_ALLOC"] > 0:
            # The exporter takes the prefix off.
            event_name = row["EVENT_NAME"].removeprefix("memory/")
            put("memory_events_alloc_bytes_total", row["SUM_NUMBER_OF_BYTES_ALLOC"], event_name=event_name)
            put("memory_events_free_bytes_total", row["SUM_NUMBER_OF_BYTES_FREE"], event_name=event_name)
            put("memory_events_used_bytes", row["CURRENT_NUMBER_OF_BYTES_USED"], event_name=event_name)
    for row in metrics:
        # Of a set it makes gauges.
        ending = "_total" if row["TYPE"] in ("counter", "status_counter") else ""
        put(f"mysql_info_schema_innodb_metrics_{row['SUBSYSTEM']}_{row['NAME']}{ending}", row["COUNT"])
    return expected


def ask_the_exporter():
    port = free_port()
    flags = [f"--collect.{name}" for name in COLLECTORS + EMPTY_COLLECTORS]
    chosen = "&".join(f"collect[]={name}" for name in COLLECTORS)
    environment = {**os.environ, "DATA_SOURCE_NAME": f"reader:looks@(127.0.0.1:{MYSQL_PORT})/"}
    with running("exporter", "prometheus-mysqld-exporter", f"--web.listen-address=127.0.0.1:{port}", *flags, env=environment):
        text = until("the exporter answers", lambda: get(f"http://127.0.0.1:{port}/metrics?{chosen}")[1])
        # What it says of failures is counted up by a scrape and shown by the next.
        text = get(f"http://127.0.0.1:{port}/metrics?{chosen}")[1]
        # With those, and with what it collects where nobody says what.
        all_of_it = [samples(get(f"http://127.0.0.1:{port}/metrics")[1]) for _ in range(2)][1]
    failed = {name: value for name, value in all_of_it.items() if "scrape_error" in name[0] and value}
    assert all_of_it[("mysql_exporter_last_scrape_error", ())] == 0 and not failed, failed
    found = samples(text)
    assert found[("mysql_up", ())] == 1, "mysql_up"
    errors = {name: value for name, value in found.items() if name[0] == "mysql_exporter_scrape_errors_total" and value}
    assert not errors, f"{errors}\n{open(f'{WORK}/exporter.log').read()}"
    asked = {dict(labels)["collector"] for name, labels in found if name == "mysql_exporter_collector_duration_seconds"}
    assert asked >= {f"collect.{name}" for name in COLLECTORS}, asked
    of_tables = ("mysql_perf_schema_", "mysql_info_schema_")
    same("prometheus-mysqld-exporter", {name: value for name, value in found.items() if name[0].startswith(of_tables)}, of_the_exporter())


def of_prometheus():
    """By hand from the tables, so that what the program derives from their declarations is checked."""
    expected = {}

    def put(name, value, **labels):
        expected[key(f"perfschema_{name}", labels)] = float(value)

    for events, table in [("events_waits", waits), ("events_stages", stages), ("events_statements", statements),
                          ("events_statements_digest", digests)]:
        for row in table:
            labels = {name.lower(): row[name] or "" for name in ["EVENT_NAME", "SCHEMA_NAME", "DIGEST"] if name in row}
            put(f"{events}_total", row["COUNT_STAR"], **labels)
            put(f"{events}_seconds_total", seconds(row["SUM_TIMER_WAIT"]), **labels)
            put(f"{events}_timed_total", row["COUNT_TIMER_WAIT"], **labels)
            if table in [statements, digests]:
                put(f"{events}_lock_time_seconds_total", seconds(row["SUM_LOCK_TIME"]), **labels)
                for figure in STATEMENT_FIGURES:
                    put(f"{events}_{figure}_total", row[f"SUM_{figure.upper()}"], **labels)
            if table is digests:
                put("events_statements_digest_text_info", 1, digest_text=(row["DIGEST_TEXT"] or "")[:120], **labels)
    for row in transactions:
        for access_mode in ["read_write", "read_only"]:
            labels = {"event_name": row["EVENT_NAME"], "access_mode": access_mode}
            put("events_transactions_total", row[f"COUNT_{access_mode.upper()}"], **labels)
            put("events_transactions_seconds_total", seconds(row[f"SUM_TIMER_{access_mode.upper()}"]), **labels)
            put("events_transactions_timed_total", row[f"COUNT_TIMER_{access_mode.upper()}"], **labels)
    for prefix, table in [("file", files), ("file_instance", instances), ("socket", sockets)]:
        for row in table:
            for operation in ["read", "write", "misc"]:
                labels = {"event_name": row["EVENT_NAME"], "operation": operation}
                if table is instances:
                    labels["file_name"] = row["FILE_NAME"]
                put(f"{prefix}_operations_total", row[f"COUNT_{operation.upper()}"], **labels)
                put(f"{prefix}_seconds_total", seconds(row[f"SUM_TIMER_{operation.upper()}"]), **labels)
                put(f"{prefix}_timed_total", row[f"COUNT_TIMER_{operation.upper()}"], **labels)
                if operation != "misc":
                    put(f"{prefix}_bytes_total", row[f"SUM_NUMBER_OF_BYTES_{operation.upper()}"], **labels)
    for row in memory:
        for operation in ["alloc", "free"]:
            labels = {"event_name": row["EVENT_NAME"], "operation": operation}
            put("memory_operations_total", row[f"COUNT_{operation.upper()}"], **labels)
            put("memory_bytes_total", row[f"SUM_NUMBER_OF_BYTES_{operation.upper()}"], **labels)
        for mark in ["low", "current", "high"]:
            put(f"memory_{mark}_count_used", row[f"{mark.upper()}_COUNT_USED"], event_name=row["EVENT_NAME"])
            put(f"memory_{mark}_used_bytes", row[f"{mark.upper()}_NUMBER_OF_BYTES_USED"], event_name=row["EVENT_NAME"])
    for row in metrics:
        ending = "value" if row["TYPE"] == "value" else "total"
        expected[key(f"perfschema_metrics_{ending}", {"name": row["NAME"], "subsystem": row["SUBSYSTEM"]})] = float(row["COUNT"])
    for row in rows("global_status"):
        if not row["VARIABLE_NAME"].endswith("_lost"):
            # What the server says of its clients.
            continue
        what = row["VARIABLE_NAME"].removeprefix("Performance_schema_").removesuffix("_lost")
        put("lost_total", row["VARIABLE_VALUE"], what=what)
    for row in rows("events_waits_histogram_by_event_name"):
        # Half decades: 10 ns, 31.6 ns, …, 316 s.
        number, bound = row["BUCKET_NUMBER"], seconds(row["BUCKET_TIMER_HIGH"])
        if number % 25 == 0 and bound < 600:
            put("events_waits_duration_seconds_bucket", row["COUNT_BUCKET_AND_LOWER"], event_name=row["EVENT_NAME"], le=float(f"{bound:.5e}"))
        elif number == 599:
            put("events_waits_duration_seconds_bucket", row["COUNT_BUCKET_AND_LOWER"], event_name=row["EVENT_NAME"], le=float("inf"))
    put("instances_left_out", 0, table="file_summary_by_instance")
    put("instances_left_out", 0, table="events_statements_summary_by_digest")
    put("program_running", 1)
    return expected


def with_bounds(found):
    """Bounds of buckets as numbers: how they are written is for each collector to say. And without what is about the program, and the
    counts that only one of the formats has."""
    numbers = {}
    for (name, labels), value in found.items():
        if not name.startswith("perfschema_") or name in ("perfschema_program_info", "perfschema_program_start_time_seconds"):
            continue
        if name.endswith("_count"):
            continue
        labels = {label: float(text) if label == "le" else text for label, text in labels}
        numbers[key(name, {label: text for label, text in labels.items() if label not in ("instance", "job")})] = value
    return numbers


def ask_perfschema():
    expected = of_prometheus()
    serve = ["serve", TARGET, "--accounts", f"{WORK}/accounts", "--prometheus"]
    secured = ["0.0.0.0:0", "--beyond-loopback", "--tls-certificate", f"{WORK}/tls.crt", "--tls-key", f"{WORK}/tls.key"]
    account = {"Authorization": "Basic " + base64.b64encode(b"controller:changes").decode()}
    # On loopback a certificate is used, too.
    local = ["127.0.0.1:0", *secured[2:]]
    with (running("serve", PERFSCHEMA, *serve, "127.0.0.1:0") as server, running("secured", PERFSCHEMA, *serve, *secured),
          running("local", PERFSCHEMA, *serve, *local)):
        urls = [
            # A line is there when its end is.
            until("it listens", lambda: [line.split()[-1] for line in open(f"{WORK}/{name}.log") if line.endswith("/metrics\n")])[0]
            for name in ["serve", "secured", "local"]]
        assert [url.split(":")[0] for url in urls] == ["http", "https", "https"], urls
        url = urls[0]
        content_type, text = get(url, **account)
        assert content_type == "text/plain; version=0.0.4; charset=utf-8", content_type
        same("text format", with_bounds(samples(text)), expected)
        content_type, open_text = get(url, "application/openmetrics-text; version=1.0.0", **account)
        assert content_type == "application/openmetrics-text; version=1.0.0; charset=utf-8", content_type
        same("OpenMetrics", with_bounds(samples(open_text, prometheus_client.openmetrics.parser.text_string_to_metric_families)), expected)
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
        assert checked.returncode == 0 and not checked.stderr + checked.stdout, checked

        port = free_port()
        config = f"{WORK}/prometheus.yml"
        with open(config, "w") as file:
            often = {"scrape_interval": "1s", "scrape_timeout": "1s"}
            targets = [[{"targets": [url.split("/")[2].replace("0.0.0.0", "127.0.0.1")]}] for url in urls]
            often["basic_auth"] = {"username": "controller", "password": "changes"}
            encrypted = {"scheme": "https", "tls_config": {"ca_file": f"{WORK}/tls.crt"}}
            json.dump({"scrape_configs": [{"job_name": "perfschema", "static_configs": targets[0], **often},
                                          {"job_name": "secured", "static_configs": targets[1], **often, **encrypted},
                                          {"job_name": "local", "static_configs": targets[2], **often, **encrypted}]}, file)
        command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={WORK}/tsdb", f"--web.listen-address=127.0.0.1:{port}"]
        with running("prometheus", *command):
            api = f"http://127.0.0.1:{port}/api/v1"

            def query(text):
                return json.loads(get(f"{api}/query?query={quote(text)}")[1])["data"]["result"]

            until("Prometheus has scraped all", lambda: [sample["value"][1] for sample in query("up")] == ["1", "1", "1"])
            for job in ["perfschema", "secured", "local"]:
                found = {}
                # Nothing changes any more; a scrape that is late on a busy machine must not matter.
                for sample in query(f'last_over_time({{job="{job}",__name__=~"perfschema_.*"}}[1m])'):
                    name = sample["metric"].pop("__name__")
                    found[key(name, sample["metric"])] = float(sample["value"][1])
                same(f"Prometheus, {job}", with_bounds(found), expected)
            metadata = json.loads(get(f"{api}/targets/metadata?metric=perfschema_file_bytes_total")[1])["data"] or \
                json.loads(get(f"{api}/targets/metadata?metric=perfschema_file_bytes")[1])["data"]
            assert {(one["type"], one["unit"]) for one in metadata} == {("counter", "bytes")}, metadata

        # The same in a file, for node_exporter.
        folder = f"{WORK}/textfile"
        os.mkdir(folder)
        for _ in range(2):
            subprocess.run([PERFSCHEMA, "prometheus", TARGET, "--output", f"{folder}/perfschema.prom"], check=True)
        assert os.listdir(folder) == ["perfschema.prom"] and open(f"{folder}/perfschema.prom").read() == text
        port = free_port()
        command = ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                   f"--collector.textfile.directory={folder}", f"--web.listen-address=127.0.0.1:{port}"]
        with running("node_exporter", *command):
            found = samples(until("node_exporter answers", lambda: get(f"http://127.0.0.1:{port}/metrics")[1]))
        assert found[("node_textfile_scrape_error", ())] == 0
        # It makes up a sum of 0 for a histogram that has none.
        found = {name: value for name, value in found.items() if not name[0].endswith("_duration_seconds_sum")}
        same("node_exporter", with_bounds(found), expected)

        server.terminate()
        assert server.wait(10) == 0, "SIGTERM is no failure"


def ask_for_otlp():
    """A receiver that decodes with OpenTelemetry's own schema what `perfschema export` sends."""
    received = queue.Queue()

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            # The first two are refused: the next must come all the same.
            status = [503, 307][received.qsize()] if received.qsize() < 2 else 200
            received.put((self.path, self.headers["Content-Type"], self.headers["X-Token"], body))
            self.send_response(status)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{receiver.server_port}"
    with open(f"{WORK}/headers", "w") as file:
        file.write("X-Token: secret\n")
    # One that signs its certificate itself, and is believed by who has it.
    secured = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    for name in ("collector", "stranger"):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=CA:FALSE",
                        "-keyout", f"{WORK}/{name}.key", "-out", f"{WORK}/{name}.crt"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{WORK}/collector.crt", f"{WORK}/collector.key")
    secured.socket = context.wrap_socket(secured.socket, server_side=True)
    threading.Thread(target=secured.serve_forever, daemon=True).start()
    to_secured = [PERFSCHEMA, "export", TARGET, "--once", "--otlp", f"https://localhost:{secured.server_port}", "--headers", f"{WORK}/headers"]
    for certificate, said in ((["--tls-ca", f"{WORK}/stranger.crt"], "invalid peer certificate"), ([], "UnknownIssuer"),
                              (["--tls-ca", f"{WORK}/collector.key"], "expected certificates in PEM format")):
        once = subprocess.run([*to_secured, *certificate], capture_output=True, text=True)
        assert once.returncode == 1 and said in once.stderr and received.empty(), once
    once = subprocess.run([*to_secured, "--tls-ca", f"{WORK}/collector.crt"], capture_output=True, text=True)
    assert once.returncode == 1 and "503" in once.stderr, once
    secured.shutdown()
    command = [PERFSCHEMA, "export", TARGET, "--otlp", url, "--headers", f"{WORK}/headers"]
    once = subprocess.run([*command, "--once"], capture_output=True, text=True)
    assert once.returncode == 1 and "307" in once.stderr, once
    with running("export", *command, "--interval", "200ms") as export:
        until("it sends again and again", lambda: received.qsize() >= 4)
        export.terminate()
        assert export.wait(10) == 0, "SIGTERM is no failure"
    receiver.shutdown()
    # A collector that takes what it is sent and says nothing: ten seconds are waited for it, but not by who stops it.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with running("export", PERFSCHEMA, "export", TARGET, "--otlp", url) as export:
            with silent.accept()[0]:
                export.terminate()
                assert export.wait(5) == 0
    sent = [received.get() for _ in range(4)][-1]
    assert sent[:3] == ("/v1/metrics", "application/json", "secret"), sent[:3]
    request = google.protobuf.json_format.Parse(sent[3], metrics_service_pb2.ExportMetricsServiceRequest())
    [of_program] = request.resource_metrics
    attributes = {one.key: one.value.string_value or one.value.int_value for one in of_program.resource.attributes}
    instance = attributes.pop("service.instance.id")
    assert instance.startswith(f"{TARGET}-") and attributes == {"service.name": "perfschema", "process.pid": int(TARGET)}, attributes
    [of_scope] = of_program.scope_metrics
    found = {}
    for metric in of_scope.metrics:
        shape = metric.WhichOneof("data")
        points = getattr(metric, shape).data_points
        assert shape == "gauge" or getattr(metric, shape).aggregation_temporality == 2, metric.name
        ending = "_total" if shape == "sum" and metric.sum.is_monotonic else ""
        assert metric.unit == {"seconds": "s", "bytes": "By"}.get(metric.name.split("_")[-1], ""), metric.name
        for point in points:
            assert 0 < point.start_time_unix_nano < point.time_unix_nano
            labels = {one.key: one.value.string_value for one in point.attributes}
            if shape == "histogram":
                assert point.count == sum(point.bucket_counts), metric.name
                bounds = [*point.explicit_bounds, float("inf")]
                for bound, count in zip(bounds, itertools.accumulate(point.bucket_counts), strict=True):
                    found[key(f"{metric.name}_bucket", {**labels, "le": bound})] = float(count)
            else:
                found[key(metric.name + ending, labels)] = float(getattr(point, point.WhichOneof("value")))
    same("OTLP", with_bounds(found), of_prometheus())


ask_the_exporter()
ask_perfschema()
ask_for_otlp()
