#!/usr/bin/env python3
"""Tests of programs that others wrote, run on our CUDA driver library.

    clients.py --driver FOLDER --nvrtc FOLDER --work FOLDER --crates FOLDER [--baseline FOLDER]
               [--long] [NAME ...]

With --baseline they also run on the driver there, which does nothing, to tell which of the tests
that pass show something; with --long those run that take long. expected.txt holds what is known to
fail and why, and what is left out. Prints a table in Markdown. The exit code is 1 when a test fails
that is not expected to, or none of those fails that a line there expects to; 77 when nothing could
be run for want of sources.
"""

import argparse
import collections
import dataclasses
import fnmatch
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import common  # noqa: E402
import golang  # noqa: E402
import jax_cuda  # noqa: E402
import numba_cuda  # noqa: E402
import rust  # noqa: E402

SHORT = rust.CLIENTS + golang.CLIENTS + jax_cuda.CLIENTS
LONG = numba_cuda.CLIENTS


def passed_of(found):
    return {test for test, result in found.items() if result == "ok"}


def skip_reason(known, message):
    return known.reason(known.skips, message) or message


def stale(known, failed):
    """The patterns that are to fail, of which nothing failed."""
    patterns = [pattern for pattern, _ in known.fails]
    return [each for each in patterns if not fnmatch.filter(failed, each)]


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
        reason = known.reason(known.fails + known.may, test)
        good = good and reason is not None
        notes.append(f"- {client.name}: `{test}` failed: {reason or 'NOT EXPECTED'}")
    for pattern in stale(known, failed):
        good = False
        notes.append(f"- {client.name}: `{pattern}` is expected to fail, and did NOT")
    reasons = collections.Counter(skip_reason(known, message) for message in skipped.values())
    for reason, count in reasons.most_common():
        notes.append(f"- {client.name}: {count} skipped: {reason}")
    return good


def options():
    parser = argparse.ArgumentParser()
    for name in ("driver", "nvrtc", "work", "crates"):
        parser.add_argument(f"--{name}", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--baseline", type=lambda text: Path(text).resolve())
    parser.add_argument("--long", action="store_true")
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def chosen(given, setting, notes):
    """The clients to run: those that are named, or of one kind, and are there."""
    clients = LONG if given.long else SHORT
    if given.names:
        clients = [each for each in SHORT + LONG if each.name in given.names]
    present = []
    for client in clients:
        missing = client.missing(setting)
        if missing:
            notes.append(f"- {client.name}: skipped: {missing}")
        else:
            present.append(client)
    return present


def main():
    given = options()
    for driver in filter(None, (given.driver, given.baseline)):
        if not (driver / "libcuda.so.1").exists():
            sys.exit(f"clients: {driver} has no libcuda.so.1")
    given.work.mkdir(parents=True, exist_ok=True)
    setting = common.Setting(given.driver, given.nvrtc, given.work, given.crates)
    notes = []
    clients = chosen(given, setting, notes)
    if not clients:
        print("\n".join(notes) or "clients: none has that name")
        return 77 if notes else 1
    good = True
    print("| client | tests | passed | failed | skipped | that show something |")
    print("|---|---|---|---|---|---|", flush=True)
    for client in clients:
        known = common.read_expected(client.name)
        found = client.results(setting, known)
        idle = None
        if given.baseline:
            idle = client.results(dataclasses.replace(setting, driver=given.baseline), known)
        good = report(client, known, found, idle, notes) and good
    print("\n" + "\n".join(notes))
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
