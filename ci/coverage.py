"""What ci/coverage prints: the lines that the tests reach, of each file and together, and those that they do not, with the reason.

coverage.py LCOV SOURCES REASONS LEAST_PERCENT

REASONS holds paragraphs: `# a reason`, then lines `file: text of the line`, one for each line that has this reason. A line that is not
reached and has no reason is an error; so is one that is listed and gone, or reached, but for reasons that begin with "Sometimes".
"""
import re
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


def code(sources, lcov_files):
    """Of each file the lines that are no tests: they are a module behind `#[cfg(test)]`, or files that are such a module."""
    beside, lines = set(), {}
    for file in sorted(lcov_files):
        text = (sources / file).read_text().splitlines()
        lines[file] = range(1, len(text) + 1)
        for number, (line, next_line) in enumerate(zip(text, text[1:]), 1):
            module = re.fullmatch(r"(?:pub\(crate\) )?mod (\w+)( \{|;)", next_line)
            if not (re.match(r"#\[cfg\(.*\btest\b", line) and module):
                continue
            if module[2] == ";":
                folder = file.parent if file.name in ("lib.rs", "mod.rs") else file.parent / file.stem
                beside.add(folder / module[1])
            else:
                lines[file] = range(1, number)
                break
    return {file: found for file, found in lines.items() if not {file.with_suffix(""), *file.parents} & beside}


known, often = parse_reasons(reasons)
total = reached = 0
unexplained, explained = [], []
found = parse(lcov)
for file, of_code in code(sources, found).items():
    text = (sources / file).read_text().splitlines()
    counts = {number: count for number, count in found[file].items() if number in of_code}
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
texts = {str(file): {line.strip() for line in (sources / file).read_text().splitlines()} for file in found}
stale = [
    f"{file}: {text}"
    for (file, text), left in often.items()
    if left > 0 and (text not in texts.get(file, ()) or not known[file, text].startswith("Sometimes"))
]
for what, lines in (("Not reached, and no reason in ci/coverage.reasons:", unexplained), ("Listed there, but reached or gone:", stale)):
    if lines:
        print(f"\n{what}")
        print("\n".join(f"    {line}" for line in lines))
if percent < float(least):
    print(f"\nless than {least} %")
sys.exit(bool(unexplained or stale or percent < float(least)))
