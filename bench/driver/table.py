"""The results as a table: text for the terminal, Markdown for RESULTS.md."""
import math
import re

from driver import machine

BASE = "kernelmill"


def by_kernel(rows):
    """{kernel: {contestant: row}} in the order of the run."""
    found = {}
    for row in rows:
        found.setdefault(row["kernel"], {})[row["contestant"]] = row
    return found


def times_better(row, other):
    """How many times better than another row, by medians."""
    pair = row["median"], other["median"]
    return pair[1] / pair[0] if row["unit"] == "us" else pair[0] / pair[1]


def share_of_bound(row):
    if not row["bound"]:
        return ""
    values = row["median"], row["bound"]
    share = values[1] / values[0] if row["unit"] == "us" else values[0] / values[1]
    return f"{100 * share:.0f}%"


def number(value):
    """Three digits that count."""
    if value is None:
        return ""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else None


def cells(rows, teams):
    """The heading and the lines of the table, the ratios' means last."""
    present = [team for team in teams if any(row["contestant"] == team.name for row in rows)]
    heading = ["kernel", "unit", *(team.title for team in present), "bound", "of bound"]
    lines, ratios = [], {team.name: [] for team in present}
    for kernel, found in by_kernel(rows).items():
        own = found.get(BASE)
        line = [kernel, next(iter(found.values()))["unit"]]
        for team in present:
            row = found.get(team.name)
            text = number(row["median"]) if row else ""
            if row and own and team.name != BASE:
                ratios[team.name].append(times_better(own, row))
                text += f" ({ratios[team.name][-1]:.2f}x)"
            line.append(text)
        lines.append([*line, number(next(iter(found.values()))["bound"]),
                      share_of_bound(own) if own else ""])
    means = ["geometric mean", ""]
    for team in present:
        mean = geometric_mean(ratios[team.name])
        means.append(f"({mean:.2f}x)" if mean and team.name != BASE else "")
    return heading, [*lines, [*means, "", ""]]


def as_text(rows, teams, title):
    heading, lines = cells(rows, teams)
    widths = [max(len(line[i]) for line in [heading, *lines]) for i in range(len(heading))]

    def join(line):
        left = [line[i].ljust(widths[i]) for i in (0, 1)]
        return "  ".join(left + [line[i].rjust(widths[i]) for i in range(2, len(line))]).rstrip()

    return "\n".join([title, "medians; in brackets, how many times better Kernelmill is",
                      join(heading), *map(join, lines), *spreads(rows, teams)])


def spreads(rows, teams):
    """A line for each kernel whose runs are timed one by one."""
    titles = {team.name: team.title for team in teams}
    return [f"{kernel}, p10 / p50 / p90 in {next(iter(found.values()))['unit']}: " +
            "; ".join(f"{titles[name]} " +
                      " / ".join(number(row[share]) for share in ("p10", "median", "p90"))
                      for name, row in found.items())
            for kernel, found in by_kernel(rows).items()
            if all("p10" in row for row in found.values())]


def as_markdown(rows, teams):
    heading, lines = cells(rows, teams)
    rule = ["---", "---", *("---:" for _ in heading[2:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in [heading, rule, *lines])


def put(path, rows, teams, threads, summary):
    """Replaces the section of this kind of machine in the file, or adds it at the end."""
    title = f"## {machine.processor()}, {machine.vectors()}, {threads} threads"
    section = f"{title}\n\n{machine.facts()['date']}\n\n{as_markdown(rows, teams)}\n"
    section += "\n" + "".join(f"- {line}\n" for line in [*summary, *spreads(rows, teams)])
    text = path.read_text() if path.exists() else "# Results\n"
    pattern = re.compile(re.escape(title) + r"\n.*?(?=\n## |\Z)", re.S)
    if pattern.search(text):
        text = pattern.sub(lambda _: section, text)
    else:
        text = text.rstrip("\n") + "\n\n" + section
    path.write_text(text)
