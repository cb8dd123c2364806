"""What ci/coverage prints: the lines that the tests reach, of each file and together, and those that they do not, with the reason.

coverage.py LCOV SOURCES REASONS LEAST_PERCENT

REASONS holds paragraphs: `# a reason`, then lines `file: text of the line`, one for each line that has this reason. A line that is not
reached and has no reason is an error; so is one that is listed and reached, or gone, but for reasons that begin with "Sometimes".
"""
import sys
from collections import Counter
from pathlib import Path

lcov, sources, reasons, least = sys.argv[1:]
sources = Path(sources).resolve()


def parse(lcov):
    """How often each line of each file ran."""
    counts, file = {}, None
    for record in Path(lcov).read_text().splitlines():
        kind, _, rest = record.partition(":")
        if kind == "SF":
            file = Path(rest).resolve()
        elif kind == "DA" and file.is_relative_to(sources):
            line, count = rest.split(",")[:2]
            lines = counts.setdefault(file.relative_to(sources), {})
            lines[int(line)] = max(lines.get(int(line), 0), int(count))
    return counts


def parse_reasons(path):
    """From (file, text of a line) to reason, and how often that line may be there."""
    known, often, reason = {}, Counter(), ""
    for line in Path(path).read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            file, _, text = line.partition(": ")
            known[file, text] = reason
            often[file, text] += 1
    return known, often


known, often = parse_reasons(reasons)
total = reached = 0
unexplained, explained = [], []
for file, counts in sorted(parse(lcov).items()):
    text = (sources / file).read_text().splitlines()
    tests = next((number for number, line in enumerate(text, 1) if line == "#[cfg(test)]"), len(text) + 1)
    counts = {number: count for number, count in counts.items() if number < tests}
    missed = sorted(number for number, count in counts.items() if count == 0)
    total += len(counts)
    reached += len(counts) - len(missed)
    print(f"{100 * (1 - len(missed) / max(len(counts), 1)):6.1f} %  {len(counts) - len(missed):4} of {len(counts):4}  {file}")
    for number in missed:
        line = (str(file), text[number - 1].strip())
        if often[line]:
            often[line] -= 1
            explained.append((known[line], f"{file}:{number}: {line[1]}"))
        else:
            unexplained.append(f"{file}:{number}: {line[1]}")

percent = 100 * reached / max(total, 1)
print(f"{percent:6.1f} %  {reached:4} of {total:4}  together")
for reason in dict.fromkeys(reason for reason, _ in explained):
    print(f"\n{reason}")
    print("\n".join(f"    {line}" for why, line in explained if why == reason))
stale = [f"{file}: {text}" for (file, text), left in often.items() if left > 0 and not known[file, text].startswith("Sometimes")]
for what, lines in (("Not reached, and no reason in ci/coverage.reasons:", unexplained), ("Listed there, but reached or gone:", stale)):
    if lines:
        print(f"\n{what}")
        print("\n".join(f"    {line}" for line in lines))
if percent < float(least):
    print(f"\nless than {least} %")
sys.exit(bool(unexplained or stale or percent < float(least)))
