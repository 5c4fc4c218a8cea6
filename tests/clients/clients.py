#!/usr/bin/env python3
"""Tests of programs that others wrote, run on our CUDA driver library.

    clients.py DRIVER_FOLDER NVRTC_FOLDER WORK_FOLDER [--baseline=FOLDER] [--long] [NAME ...]

With --baseline they also run on the driver there, which does nothing, to tell which of the tests
that pass show something; with --long those run that take long. expected.txt holds what is known to
fail and why, and what is left out. Prints a table in Markdown; the exit code is 1 when a test fails
that is not expected to.
"""

import collections
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import common  # noqa: E402
import golang  # noqa: E402
import numba_cuda  # noqa: E402
import rust  # noqa: E402

SHORT = rust.CLIENTS + golang.CLIENTS
LONG = numba_cuda.CLIENTS


def passed_of(found):
    return {test for test, result in found.items() if result == "ok"}


def skip_reason(known, message):
    return known.reason(known.skips, message) or message


def report(client, known, found, idle, notes):
    """Prints the row of the table; False when something is not as expected."""
    passed = passed_of(found)
    skipped = {test: result[9:] for test, result in found.items() if result.startswith("skipped")}
    failed = sorted(set(found) - passed - set(skipped))
    telling = "-" if idle is None else len(passed - passed_of(idle))
    counts = f"{len(found)} | {len(passed)} | {len(failed)} | {len(skipped)} | {telling}"
    print(f"| {client.name} {client.version} | {counts} |", flush=True)
    good = bool(found)
    for test in failed:
        reason = known.reason(known.fails, test)
        good = good and reason is not None
        notes.append(f"- {client.name}: `{test}` failed: {reason or 'NOT EXPECTED'}")
    reasons = collections.Counter(skip_reason(known, message) for message in skipped.values())
    for reason, count in reasons.most_common():
        notes.append(f"- {client.name}: {count} skipped: {reason}")
    return good


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    noop = [word.split("=", 1)[1] for word in sys.argv if word.startswith("--baseline=")]
    driver, nvrtc, work = (Path(word).resolve() for word in words[:3])
    work.mkdir(parents=True, exist_ok=True)
    clients = LONG if "--long" in sys.argv else SHORT
    if words[3:]:
        clients = [each for each in SHORT + LONG if each.name in words[3:]]
    print("| client | tests | passed | failed | skipped | that show something |")
    print("|---|---|---|---|---|---|", flush=True)
    notes, good = [], bool(clients)
    for client in clients:
        known = common.read_expected(client.name)
        found = client.results(common.Setting(driver, nvrtc, work), known)
        idle = None
        if noop:
            setting = common.Setting(Path(noop[0]).resolve(), nvrtc, work)
            idle = client.results(setting, known)
        good = report(client, known, found, idle, notes) and good
    print("\n" + "\n".join(notes))
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
