"""What attaching costs, and what being read costs. Started by benches/attach."""

import os
import re
import resource
import statistics
import subprocess
import sys
import time

PROGRAMS, WORK = sys.argv[1], sys.argv[2]
PERFSCHEMA, ATTACHES, ROUNDS = f"{PROGRAMS}/perfschema", 20, 10
failed = False


def conclude(what, value, unit, most):
    global failed
    failed |= value > most
    print(f"{what}: {value:.3g} {unit} (at most {most})")


def attach(threads):
    """Milliseconds of CPU to attach to a region with room for so many threads, and its size; of a command that only says its version."""
    options = {**os.environ, "PERFSCHEMA_OPTIONS": f"performance-schema-max-thread-instances={threads}"}
    program = subprocess.Popen([f"{PROGRAMS}/examples/rows", "256", "64", "1000", "64"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=options)
    pid = program.stdout.readline().decode().strip()

    def cpu(*command):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run([PERFSCHEMA, *command], check=True, capture_output=True, text=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000, said

    runs = [cpu("sql", pid, "--csv", "SELECT 1") for _ in range(ATTACHES)]
    assert all(said == "1\n1\n" for _, said in runs), runs
    size = cpu("sql", pid, "--csv", "SHOW ENGINE PERFORMANCE_SCHEMA STATUS")[1].strip().split("\n")[-1].split(",")[-1]
    program.stdin.close()
    program.wait()
    subprocess.run([PERFSCHEMA, "prune", pid], check=True, capture_output=True)
    return statistics.median(milliseconds for milliseconds, _ in runs), int(size) / (1 << 20)


def seconds_of_work(reads):
    """Seconds of CPU for one run of the demo's work, in one thread, while another process runs statements over the tables of the demo, or
    of the program that it is told; and how much that has printed."""
    demo = subprocess.Popen([PERFSCHEMA, "demo", "--threads", "1", "--seconds", "2", "core-nostd/src"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, env={**os.environ, "PERFSCHEMA_SHARE": "1"})
    reader, out = None, f"{WORK}/read"
    if reads:
        time.sleep(0.2)
        with open(f"{WORK}/statements") as stdin, open(out, "w") as stdout:
            reader = subprocess.Popen([PERFSCHEMA, "shell", str(demo.pid) if reads == "demo" else reads], stdin=stdin, stdout=stdout)
    said = demo.stdout.read()
    demo.wait()
    if reader:
        assert reader.poll() is None, "it has read until the end"
        reader.terminate()
        reader.wait()
    subprocess.run([PERFSCHEMA, "prune", str(demo.pid)], capture_output=True)
    cpu, runs = re.search(r"([0-9.]+) s of CPU: ([0-9,]+) runs?", said).groups()
    return float(cpu) / int(runs.replace(",", "")), os.path.getsize(out) if reader else 0


for threads in [100, 20000]:
    milliseconds, mebibytes = attach(threads)
    conclude(f"attaching to {mebibytes:.0f} MiB", milliseconds, "ms of CPU", 50)

with open(f"{WORK}/statements", "w") as file:
    file.write("SELECT * FROM performance_schema.events_waits_current;\n" * 200_000)
# One after the other: what else the machine does disturbs both alike.
# What two busy processors do to each other, whatever they do, is not the reading: so there is a reader of another program's tables, too.
other = subprocess.Popen([f"{PROGRAMS}/examples/rows", "64", "8", "8", "8"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
pid = other.stdout.readline().decode().strip()
rounds = [(seconds_of_work("demo"), seconds_of_work(pid), seconds_of_work(None)) for _ in range(ROUNDS)]
other.stdin.close()
other.wait()
subprocess.run([PERFSCHEMA, "prune", pid], check=True, capture_output=True)
assert all(size > 10_000 for (_, size), _, _ in rounds), "it has read rows"
read, beside, alone = ([seconds for seconds, _ in runs] for runs in zip(*rounds))


def times(these, those):
    return statistics.median(a / b for a, b in zip(these, those))


print(f"over a program alone: beside a reader of another {times(beside, alone):.3f} times, read itself {times(read, alone):.3f} times")
conclude("a program that is read, over one beside the same reader of another", times(read, beside), "times", 1.02)
sys.exit(failed)
