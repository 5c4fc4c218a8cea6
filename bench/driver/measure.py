"""Runs the contestants of one benchmark in turn and collects their samples."""
import statistics
import subprocess
import sys
import time
from pathlib import Path

from driver.contestant import Contestant, Failed, cpus_for, environment_for, teams

# Before each sample: threads of OpenMP's library spin for some milliseconds after their last work.
PAUSE_SECONDS = 0.03


def say(text):
    print(text, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, deps, build, threads, repeats, least_seconds):
        self.deps = deps
        self.build = build
        self.programs = Path(build) / "bench"
        self.threads = threads
        self.repeats = repeats
        self.least_seconds = least_seconds
        self.cpus = cpus_for(threads)
        self.environment = environment_for(threads, self.programs)
        self.teams = teams(deps, build)
        self._lists = {}

    def has(self, program, benchmark):
        """Whether a program is built and knows a benchmark."""
        path = self.programs / f"bench_{program}"
        if program not in self._lists:
            done = path.exists() and subprocess.run([str(path), "--list"], text=True,
                                                    capture_output=True, check=True)
            self._lists[program] = set(done.stdout.split()) if done else set()
        return benchmark in self._lists[program]

    def _plans(self, kernel, size, probes):
        """(name, program, benchmark, size, environment) of each process that is to run."""
        for team in self.teams:
            if self.has(team.program, kernel.benchmark):
                for setting in team.settings:
                    yield team.name, team.program, kernel.benchmark, size, setting
        if probes:
            for name, (program, benchmark, probe_size) in kernel.bound.probes.items():
                if self.has(program, benchmark):
                    yield f"probe {name}", program, benchmark, probe_size, {}

    def start(self, name, program, benchmark, size, setting):
        command = [str(self.programs / f"bench_{program}"), benchmark, str(size),
                   str(self.least_seconds)]
        return Contestant.start(name, command, {**self.environment, **setting}, self.cpus)

    def run(self, label, kernel, size=None, probes=True):
        """The contestants of one benchmark, interleaved."""
        running = []
        for plan in self._plans(kernel, size or kernel.size, probes):
            try:
                running.append(self.start(*plan))
            except Failed as failure:
                say(f"{label}: {plan[0]} is missing: {failure}")
        for _ in range(self.repeats):
            for contestant in list(running):
                time.sleep(PAUSE_SECONDS)
                try:
                    contestant.sample()
                except (Failed, BrokenPipeError) as failure:
                    say(f"{label}: {contestant.name} is missing: {failure}")
                    running.remove(contestant)
                    contestant.close()
        for contestant in running:
            contestant.close()
        return running


def bound_of(kernel, contestants):
    better = min if kernel.smaller_is_better else max
    probes = {c.name.removeprefix("probe "): better(c.values())
              for c in contestants if c.name.startswith("probe ")}
    facts = {}
    for contestant in contestants:
        facts.update(contestant.facts)
    if set(probes) != set(kernel.bound.probes):
        return None
    return kernel.bound.compute(probes, facts)


def rows_of(name, kernel, contestants):
    """The rows of results.json of one benchmark; of a team's settings the best one's."""
    better = min if kernel.smaller_is_better else max
    bound = bound_of(kernel, contestants)
    rows = {}
    for contestant in contestants:
        if contestant.name.startswith("probe "):
            continue
        row = {"kernel": name, "contestant": contestant.name, "unit": kernel.unit,
               "best": better(contestant.values()),
               "median": statistics.median(contestant.values()),
               "bound": bound, "bound_text": kernel.bound.text}
        for figure in ("p10", "p90", "busy"):
            if contestant.values(figure):
                row[figure] = statistics.median(contestant.values(figure))
        known = rows.setdefault(contestant.name, row)
        if better(row["median"], known["median"]) != known["median"]:
            rows[contestant.name] = row
    return list(rows.values())
