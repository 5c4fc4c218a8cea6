"""All-reductions of 2, 4 and 8 ranks, 8 bytes to 64 MiB: our engines, and MPI's own where a
launcher is found (mpirun, and mpicc beside it; MPIRUN names another one, or several)."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from driver.kernels import COMM

RANKS = (2, 4, 8)
LIMIT_S = 90  # more ranks than cores, which wait actively, are slow
# Open MPI refuses root, and more ranks than cores.
LAUNCHER = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def answers(texts):
    return [json.loads(line) for text in texts for line in text.splitlines()
            if line.startswith("{")]


def finish(processes):
    """The outputs of processes that run together."""
    texts = []
    end = time.monotonic() + LIMIT_S
    for each in processes:
        try:
            texts.append(each.communicate(timeout=max(end - time.monotonic(), 0)))
        except subprocess.TimeoutExpired:
            each.terminate()  # a launcher ends its ranks
            texts.append(each.communicate())
            print(f"{COMM}: no end within {LIMIT_S} s: {each.args}", file=sys.stderr)
    for each, (_, error) in zip(processes, texts):
        if each.returncode > 0:
            raise RuntimeError(f"{COMM}: exit {each.returncode}: {error[-500:]}")
    return [out for out, _ in texts]


def start(command, environment):
    return subprocess.Popen([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={**os.environ, **environment})


def own_rows(program, environment, ranks):
    """Ranks in one process, and in a process each."""
    devices = {**environment, "KM_CPU_DEVICES": str(ranks)}
    rows = answers(finish([start([program, "threads", ranks], devices)]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "id"
        processes = [start([program, "process", ranks, rank, path], environment)
                     for rank in range(ranks)]
        return rows + answers(finish(processes))


def mpi_program(launcher, library, folder):
    """The program built for a launcher's MPI, and the MPI's name."""
    compiler = launcher.with_name("mpicc")
    if not compiler.exists():
        print(f"{COMM}: {launcher} has no mpicc beside it", file=sys.stderr)
        return None, None
    root = Path(__file__).resolve().parents[2]
    program = folder / "comm_mpi"
    subprocess.run([str(compiler), "-O2", "-D_GNU_SOURCE", "-DKM_BENCH_MPI", "-std=gnu11",
                    f"-I{root / 'include'}", str(root / "bench" / "scale" / "comm.c"), "-o",
                    str(program), str(library), f"-Wl,-rpath,{library.parent}"], check=True)
    version = subprocess.run([str(launcher), "--version"], text=True, capture_output=True,
                             check=False)
    return program, "Open MPI" if "Open MPI" in version.stdout else "MPICH"


def mpi_rows(launcher, library, environment, folder):
    program, name = mpi_program(launcher, library, folder)
    rows = []
    for ranks in RANKS if program else ():
        for engine in ("auto", "mpi"):
            done = finish([start([launcher, "-n", ranks, program],
                                 {**environment, **LAUNCHER, "KM_COMM": engine})])
            for row in answers(done):
                is_own = row["contestant"] != "mpi"
                row["beside"] = f"{name} beside {'ours' if engine == 'auto' else 'ours over it'}"
                row["contestant"] = f"{row['contestant']}, {name}" if is_own else name
                rows.append(row)
    return rows


def launchers():
    named = os.environ.get("MPIRUN", shutil.which("mpirun") or "")
    return [Path(each) for each in named.split(":") if each]


def size_of(count):
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= factor:
            return f"{count // factor} {unit}"
    return f"{count} bytes"


def what_of(row):
    return row["step"] if "step" in row else size_of(row["bytes"])


def start_table(rows):
    """Markdown: a line for each engine and number of ranks, with the steps of its start."""
    steps = ("first join", "join", "first operation")
    found = {(row["contestant"], row["ranks"], row["step"]): row["us"] for row in rows
             if "step" in row}
    lines = ["| engine | ranks | " + " | ".join(steps) + " |", "|" + " --- |" * 2 + " ---: |" * 3]
    for engine, ranks in sorted({key[:2] for key in found}):
        cells = [time_of(found.get((engine, ranks, step))) for step in steps]
        lines.append(f"| {engine} | {ranks} | " + " | ".join(cells) + " |")
    return lines


BOUNDS = (("threads", "copies by threads"), ("shared_memory", "copies by processes"),
          ("shared_memory", "copies in and out"))


def of_bounds(found, ranks, count):
    """How much of the speed of plain copies our engines have."""
    times = [[found.get((ranks, count, kind, "")) for kind in pair] for pair in BOUNDS]
    return [f"{copies / own:.0%}" if copies and own else "" for own, copies in times]


def time_of(us):
    if us is None:
        return ""
    return f"{us / 1000:.1f} ms" if us >= 10000 else f"{us:.0f} us"


def table(rows):
    """Markdown: a line for each number of ranks and size. Ratios are MPI's time over ours in the
    same processes, so above 1 ours is faster. Copies are those of the inputs to the outputs by
    all processors, in turns with ours; processes also copy in and out of memory like theirs."""
    rows = [row for row in rows if "bytes" in row]
    mpis = sorted({row["contestant"] for row in rows if "beside" in row
                   and "," not in row["contestant"]})
    found = {(row["ranks"], row["bytes"], row["contestant"], row.get("beside", "")): row["us"]
             for row in rows}
    heads = ["ranks", "size", "threads", "of copies", "processes", "of copies",
             "of copies in and out"]
    for name in mpis:
        heads += [f"{name}", f"{name} / ours", f"{name} / ours over it"]
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * 2 + " ---: |" * (len(heads) - 2)]
    for ranks, count in sorted({(row["ranks"], row["bytes"]) for row in rows}):
        cells = [str(ranks), size_of(count)]
        of_threads, *of_processes = of_bounds(found, ranks, count)
        cells += [time_of(found.get((ranks, count, "threads", ""))), of_threads,
                  time_of(found.get((ranks, count, "shared_memory", ""))), *of_processes]
        for name in mpis:
            beside = [f"{name} beside ours", f"{name} beside ours over it"]
            theirs = [found.get((ranks, count, name, each)) for each in beside]
            ours = [found.get((ranks, count, f"shared_memory, {name}", beside[0])),
                    found.get((ranks, count, f"over_mpi, {name}", beside[1]))]
            cells += [time_of(theirs[0])]
            cells += [f"{a / b:.2f}" if a and b else "" for a, b in zip(theirs, ours)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def run(folder, library, environment):
    """Rows of results.json; none where the program is not built."""
    program = folder / "bench_comm"
    if not program.exists():
        print(f"{COMM}: {program.name} is not built", file=sys.stderr)
        return []
    rows = []
    for ranks in RANKS:
        rows += own_rows(program, environment, ranks)
    if not launchers():
        print(f"{COMM}: without MPI: no mpirun is found (MPIRUN names one)", file=sys.stderr)
    for launcher in launchers():
        with tempfile.TemporaryDirectory() as made:
            rows += mpi_rows(launcher, library, environment, Path(made))
    print(f"\n{COMM}: medians of all-reductions of f32, with a wait for the stream after each")
    print("\n".join(table(rows)))
    print(f"\n{COMM}: starts of communicators; the first one opens the devices")
    print("\n".join(start_table(rows)))
    return [{"kernel": COMM, "contestant": row["contestant"], "unit": "us", "bound": None,
             "metric": f"{row['ranks']} ranks, {what_of(row)}", "best": row["us"],
             "median": row["us"]} for row in rows]
