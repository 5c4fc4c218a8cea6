"""Runs the contestants of one benchmark in turn and collects their samples."""
import statistics
import sys
from pathlib import Path

from driver.contestant import Contestant, Failed, cpus_for, environment_for

# PoCL's work-group methods; the better one counts.
POCL_METHODS = ("auto", "loopvec")


def say(text):
    print(text, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, build, threads, repeats, least_seconds):
        self.programs = Path(build) / "bench"
        self.threads = threads
        self.repeats = repeats
        self.least_seconds = least_seconds
        self.cpus = cpus_for(threads)
        self.environment = environment_for(threads, self.programs)

    def start(self, name, program, benchmark, **extra):
        path = self.programs / f"bench_{program}"
        if not path.exists():
            raise Failed(f"{path.name} is not built")
        command = [str(path), benchmark, str(self.least_seconds)]
        return Contestant(name, command, {**self.environment, **extra}, self.cpus)

    def _plans(self, kernel_name, kernel):
        plans = [("kernelmill", "kernelmill", kernel_name, {}),
                 ("openmp", "openmp", kernel_name, {})]
        for method in POCL_METHODS:
            plans.append((f"pocl {method}", "pocl", kernel_name,
                          {"POCL_WORK_GROUP_METHOD": method}))
        for probe in kernel.probes:
            # The fork-join bound is what the OpenMP contestant of launch_sync measures.
            source = ("openmp", "launch_sync") if probe == "fork_join" else ("probes", probe)
            plans.append((f"probe {probe}", *source, {}))
        return plans

    def run(self, kernel_name, kernel):
        """All contestants of one benchmark, interleaved. Returns {name: Contestant}."""
        running, failures = {}, {}
        for name, program, benchmark, extra in self._plans(kernel_name, kernel):
            try:
                running[name] = self.start(name, program, benchmark, **extra)
            except Failed as failure:
                failures[name] = str(failure)
        for _ in range(self.repeats):
            for name, contestant in list(running.items()):
                try:
                    contestant.sample()
                except (Failed, BrokenPipeError) as failure:
                    failures[name] = str(failure)
                    running.pop(name).close()
        for contestant in running.values():
            contestant.close()
        for name, failure in failures.items():
            say(f"{kernel_name}: {name} is missing: {failure}")
        return running



def rows_of(kernel_name, kernel, contestants):
    """The rows of results.json of one benchmark."""
    better = min if kernel.smaller_is_better else max
    probes = {name.split(" ", 1)[1]: better(c.values())
              for name, c in contestants.items() if name.startswith("probe ")}
    facts = {}
    for contestant in contestants.values():
        facts.update(contestant.facts)
    bound = None
    if all(probe in probes for probe in kernel.probes):
        bound = kernel.bound(probes, facts)
    rows = {}
    for name, contestant in contestants.items():
        if name.startswith("probe "):
            continue
        short = name.split(" ")[0]
        row = {"kernel": kernel_name, "contestant": short, "metric": kernel.metric,
               "unit": kernel.unit, "best": better(contestant.values()),
               "median": statistics.median(contestant.values()), "bound": bound}
        if short not in rows or better(row["median"], rows[short]["median"]) == row["median"]:
            rows[short] = row
    return [rows[name] for name in ("kernelmill", "pocl", "openmp") if name in rows]
