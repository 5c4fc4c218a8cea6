#!/usr/bin/env python3
"""Simulates all-reductions over many hosts, message by message, by a measured cost model.

    allreduce.py [--hosts 1,10,100,1000] [--ranks 8] [--bytes 8,65536,67108864]
    allreduce.py --start                  what the start of a communicator over MPI takes
    allreduce.py --check ROWS             fits one host's costs on 2 ranks (4 where ranks take
                                          turns), predicts the others; measure.py makes ROWS

Every message occupies its sender's and its receiver's port: between hosts those of the hosts'
network, within one the host's memory. Ports work in the order of requests. docs/internals/scale.md
says what the results mean.
"""

import argparse
import json
import math
import os
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass

US, MS = 1e-6, 1e-3


@dataclass(frozen=True)
class Costs:
    """Seconds and bytes per second; the defaults are of a usual cluster of 2026."""

    network_latency: float = 5 * US
    network_rate: float = 12.5e9  # 100 Gbit/s
    message: float = 0.5 * US  # of a processor, for each message that it sends or receives
    eager: float = 8192  # bytes; a longer message waits for its receiver
    connect: float = 20 * US  # of a processor, for the first message to or from a rank
    host_latency: float = 1 * US
    host_rate: float = 20e9  # copies of all ranks of a host together


class Cluster:
    """Hosts with ranks: who is busy until when."""

    def __init__(self, hosts: int, ranks: int, costs: Costs):
        self.hosts, self.ranks, self.costs = hosts, ranks, costs
        self.sending, self.receiving = [0.0] * hosts, [0.0] * hosts
        self.memory = [0.0] * hosts
        self.messages = self.network_bytes = 0

    def send(self, ready: float, source: int, target: int, size: float) -> float:
        """The time at which a message that is ready is there; source and target are hosts."""
        self.messages += 1
        costs = self.costs
        if source == target:
            begin = max(ready, self.memory[source])
            self.memory[source] = begin + size / costs.host_rate
            return self.memory[source] + costs.host_latency
        begin = max(ready, self.sending[source], self.receiving[target])
        end = begin + costs.message + size / costs.network_rate
        self.sending[source] = self.receiving[target] = end
        self.network_bytes += size
        return end + costs.network_latency


def ring(cluster: Cluster, size: float, members: list, ready: list) -> list:
    """Parts go around the ring of members (their hosts), first added, then copied."""
    count = len(members)
    if count == 1:
        return ready
    for _ in range(2 * (count - 1)):
        came = [cluster.send(ready[i], members[i], members[(i + 1) % count], size / count)
                for i in range(count)]
        ready = [max(ready[i], came[i - 1]) for i in range(count)]
    return ready


def tree(cluster: Cluster, size: float, members: list, ready: list, pieces: int = 16) -> list:
    """A binary tree: pieces are added on the way up and copied on the way down."""
    count = len(members)
    there = [[at] * pieces for at in ready]
    for piece in range(pieces):
        for child in range(count - 1, 0, -1):
            parent = (child - 1) // 2
            came = cluster.send(there[child][piece], members[child], members[parent], size / pieces)
            there[parent][piece] = max(there[parent][piece], came)
    for piece in range(pieces):
        for child in range(1, count):
            parent = (child - 1) // 2
            there[child][piece] = cluster.send(there[parent][piece], members[parent],
                                               members[child], size / pieces)
    return [max(each) for each in there]


def each_to_each(cluster: Cluster, size: float, members: list, ready: list) -> list:
    """What KM_COMM=mpi does: each adds a part that all others send it, and sends the sum to them.
    Short ones go to all as they are."""
    count = len(members)
    if count == 1:
        return ready
    rounds, part = (1, size) if size <= SHORT_BYTES else (2, size / count)
    for _ in range(rounds):
        came = list(ready)
        for away in range(1, count):
            for i in range(count):
                to = (i + away) % count
                came[to] = max(came[to], cluster.send(ready[i], members[i], members[to], part))
        ready = came
    return ready


def shared_memory(cluster: Cluster, size: float, host: int, ready: float, passes: float) -> float:
    """One host's ranks reduce or copy by their memory: each moves `passes` times the bytes."""
    end = ready
    for _ in range(cluster.ranks):
        end = max(end, cluster.send(ready, host, host, passes * size))
    return end


def flat(algorithm):
    """An algorithm over all ranks, host by host."""

    def run(cluster: Cluster, size: float) -> float:
        members = [host for host in range(cluster.hosts) for _ in range(cluster.ranks)]
        return max(algorithm(cluster, size, members, [0.0] * len(members)))

    return run


def hierarchical(algorithm):
    """Ranks of a host reduce by memory, one rank of each runs the algorithm, and memory again."""

    def run(cluster: Cluster, size: float) -> float:
        ready = [shared_memory(cluster, size, h, 0.0, 1) for h in range(cluster.hosts)]
        ready = algorithm(cluster, size, list(range(cluster.hosts)), ready)
        return max(shared_memory(cluster, size, h, ready[h], 1) for h in range(cluster.hosts))

    return run


SHORT_BYTES = 4096
PIECE_BYTES = 512 << 10  # of processes' shared memory
ALGORITHMS = {
    "each to each": flat(each_to_each),
    "ring": flat(ring),
    "tree": flat(tree),
    "host, then ring": hierarchical(ring),
    "host, then tree": hierarchical(tree),
}
MOST_MESSAGES = 20_000_000  # a flat ring of more ranks is not simulated


def messages_of(name: str, hosts: int, ranks: int) -> int:
    members = hosts if name.startswith("host") else hosts * ranks
    return 32 * members if name.endswith("tree") else 2 * members * members


def table(hosts: list, ranks: int, sizes: list, costs: Costs) -> None:
    print(f"{'hosts':>6} {'bytes':>10}  " + "".join(f"{name:>18}" for name in ALGORITHMS))
    for count in hosts:
        for size in sizes:
            cells = []
            for name, run in ALGORITHMS.items():
                if messages_of(name, count, ranks) > MOST_MESSAGES:
                    cells.append(f"{'-':>18}")
                    continue
                cells.append(f"{run(Cluster(count, ranks, costs), size) / MS:15.3f} ms")
            print(f"{count:6} {size:10}  " + "".join(cells))


def start(hosts: int, ranks: int, costs: Costs) -> dict:
    """Seconds of the steps in which KM_COMM=mpi starts a communicator: the maker of the id hears
    where each rank is, and answers one after the other; then MPI makes its communicator."""
    count = hosts * ranks
    step, steps = costs.network_latency + costs.message, math.ceil(math.log2(count))
    answer = 4 * (count + 2)
    waits = 2 * costs.network_latency if answer > costs.eager else 0
    return {
        "id": steps * step,
        "reports": costs.network_latency + (count - 1) * (costs.connect + costs.message),
        "answers": (count - 1) * (costs.message + answer / costs.network_rate + waits),
        "MPI's part": 2 * steps * step,
        "first operation": (count - 1) * (costs.connect + 2 * costs.message),
    }


def start_table(hosts: list, ranks: int, costs: Costs) -> None:
    names = list(start(2, 1, costs))
    print(f"{'hosts':>6} {'ranks':>6}  " + "".join(f"{name:>18}" for name in [*names, "all"]))
    for each in hosts:
        if each * ranks > 1:
            times = list(start(each, ranks, costs).values())
            cells = "".join(f"{seconds / MS:15.3f} ms" for seconds in [*times, sum(times)])
            print(f"{each:6} {each * ranks:6}  {cells}")


@dataclass(frozen=True)
class Host:
    """What one machine's ranks cost, fitted on the times of few of them."""

    is_threads: bool  # one thread calls for all ranks
    cores: int
    call: float
    turn: float  # of ranks that wait for a core
    wake: float  # of 2 ranks' threads, which carry long operations out
    rates: tuple  # (bytes that are read and written, rate)

    def short(self, ranks: int) -> float:
        if self.is_threads:
            return self.call * ranks
        return self.call + (self.turn * ranks / self.cores if ranks > self.cores else 0)

    def waits(self, ranks: int, size: float) -> float:
        if size <= SHORT_BYTES:
            return self.short(ranks)
        if self.is_threads:
            return self.wake * ranks / 2 + self.short(ranks)
        # While ranks of a long operation wait, others work: turns cost nothing.
        meetings = 2 * math.ceil(size / PIECE_BYTES)
        return self.wake * max(ranks / self.cores, 1) + meetings * self.call

    def rate(self, moved: float) -> float:
        """Between two measured ones, by the logarithm of the bytes."""
        low = max((each for each in self.rates if each[0] <= moved), default=self.rates[0])
        high = min((each for each in self.rates if each[0] >= moved), default=self.rates[-1])
        if low == high:
            return low[1]
        part = math.log(moved / low[0]) / math.log(high[0] / low[0])
        return low[1] * (high[1] / low[1]) ** part

    def predict(self, ranks: int, size: float) -> float:
        """Memory's part is the simulation's, with the rate of as many bytes."""
        if size <= SHORT_BYTES:
            return self.short(ranks)
        costs = Costs(host_rate=self.rate(2 * ranks * size), host_latency=0)
        memory = ALGORITHMS["host, then ring"](Cluster(1, ranks, costs), size)
        return self.waits(ranks, size) + memory


def fit(measured: dict, is_threads: bool, cores: int) -> Host:
    """By 2 ranks; what turns cost by 4 ranks, where those are more than the cores."""
    of_two = measured[2]
    small = min(of_two)
    call = of_two[small] / (2 if is_threads else 1)
    turns = 4 / cores if cores < 4 else 0
    turn = max(measured[4][small] - call, 0) / turns if turns and not is_threads else 0
    first = min(size for size in of_two if size > SHORT_BYTES)
    host = Host(is_threads, cores, call, turn, of_two[first], ())
    rates = [(4 * size, 4 * size / max(seconds - host.waits(2, size), seconds / 4))
             for size, seconds in sorted(of_two.items()) if size > first]
    return Host(is_threads, cores, call, turn, of_two[first], tuple(rates))


def read_rows(path: str) -> tuple:
    """Medians of all runs: {engine: {ranks: {bytes: seconds}}}, and the same of steps."""
    found = defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            key = (row["contestant"], row["ranks"], row.get("step", row.get("bytes")))
            found[key].append(row["us"] * US)
    sizes, steps = defaultdict(lambda: defaultdict(dict)), defaultdict(lambda: defaultdict(dict))
    for (engine, ranks, what), times in found.items():
        kept = steps if isinstance(what, str) else sizes
        kept[engine][ranks][what] = statistics.median(times)
    return sizes, steps


def compare(what: str, measured: float, predicted: float) -> float:
    print(f"  {what:30}: {measured / MS:10.4f} ms measured, {predicted / MS:10.4f} ms predicted, "
          f"{measured / predicted:.2f}")
    return max(measured / predicted, predicted / measured)


def check_starts(joins: dict) -> None:
    """Joins beside as many times those of 4 ranks as there are ranks."""
    for ranks, of in sorted(joins.items()):
        compare(f"join of {ranks} ranks", of["join"], joins[4]["join"] * ranks / 4)


def check(path: str, cores: int) -> int:
    """Compares one host's times with those that few ranks predict."""
    sizes, steps = read_rows(path)
    for engine in ("threads", "shared_memory"):
        measured = sizes[engine]
        host = fit(measured, engine == "threads", cores)
        rates = ", ".join(f"{rate / 1e9:.1f}" for _, rate in host.rates)
        print(f"{engine}: call {host.call / US:.2f} us, turn {host.turn / US:.1f} us, "
              f"wake {host.wake / US:.0f} us, {rates} GB/s")
        worst = [compare(f"{ranks} ranks, {size} bytes", seconds, host.predict(ranks, size))
                 for ranks, of in sorted(measured.items()) if ranks > 2
                 for size, seconds in sorted(of.items())]
        print(f"  off by a factor of {max(worst):.2f} at worst, {statistics.median(worst):.2f} "
              "in the middle")
        check_starts(steps[engine])
    return 0


def numbers(text: str) -> list:
    return [int(each) for each in text.split(",")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--hosts", type=numbers, default=[1, 4, 16, 64, 256, 1000])
    parser.add_argument("--ranks", type=int, default=8, help="of each host")
    parser.add_argument("--bytes", type=numbers, default=[8, 65536, 64 << 20])
    parser.add_argument("--start", action="store_true")
    parser.add_argument("--check", metavar="ROWS")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)),
                        help="of the machine that was measured, for --check")
    options = parser.parse_args()
    if options.check:
        return check(options.check, options.cores)
    if options.start:
        start_table(options.hosts, options.ranks, Costs())
        return 0
    table(options.hosts, options.ranks, options.bytes, Costs())
    return 0


if __name__ == "__main__":
    sys.exit(main())
