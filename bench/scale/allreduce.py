#!/usr/bin/env python3
"""Simulates all-reductions over many hosts, message by message, by a measured cost model.

    allreduce.py [--hosts 1,10,100,1000] [--ranks 8] [--bytes 8,65536,67108864]
    allreduce.py --check MEASURED.json    fits the model on 2 ranks of one host, predicts the others

Every message occupies its sender's and its receiver's port: between hosts those of the hosts'
network, within one the host's memory. Ports work in the order of requests. docs/internals/scale.md
says what the results mean.
"""

import argparse
import json
import sys
from dataclasses import dataclass

US, MS = 1e-6, 1e-3


@dataclass(frozen=True)
class Costs:
    """Seconds and bytes per second; the defaults are of a usual cluster of 2026."""

    network_latency: float = 5 * US
    network_rate: float = 12.5e9  # 100 Gbit/s
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
        end = begin + size / costs.network_rate
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


ALGORITHMS = {
    "ring": flat(ring),
    "tree": flat(tree),
    "host, then ring": hierarchical(ring),
    "host, then tree": hierarchical(tree),
}
MOST_MESSAGES = 20_000_000  # a flat ring of more ranks is not simulated


def messages_of(name: str, hosts: int, ranks: int) -> int:
    members = hosts if name.startswith("host") else hosts * ranks
    return 2 * members * members if name.endswith("ring") else 32 * members


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


def check(path: str) -> int:
    """Compares one host's times, {"ranks": {"bytes": seconds}}, with those that 2 ranks predict."""
    with open(path, encoding="utf-8") as file:
        measured = {int(r): {int(b): s for b, s in of.items()} for r, of in json.load(file).items()}
    small, large = min(measured[2]), max(measured[2])
    # Two ranks: each reduces and copies, which is four times the bytes through the memory.
    rate = 4 * large / (measured[2][large] - measured[2][small])
    costs = Costs(host_rate=rate, host_latency=measured[2][small] / 2)
    print(f"host: {rate / 1e9:.1f} GB/s, {costs.host_latency / US:.0f} us for each rank")
    worst = 0.0
    for ranks, of in sorted(measured.items()):
        for size, seconds in sorted(of.items()):
            latency = costs.host_latency * ranks if size == small else 0.0
            bulk = ALGORITHMS["host, then ring"](Cluster(1, ranks, costs), size)
            predicted = max(latency, bulk)
            ratio = seconds / predicted
            worst = max(worst, ratio, 1 / ratio)
            print(f"{ranks} ranks, {size:9} bytes: {seconds / MS:9.3f} ms measured, "
                  f"{predicted / MS:9.3f} ms predicted, {ratio:.2f}")
    print(f"at worst a factor of {worst:.2f}")
    return 0


def numbers(text: str) -> list:
    return [int(each) for each in text.split(",")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--hosts", type=numbers, default=[1, 4, 16, 64, 256, 1000])
    parser.add_argument("--ranks", type=int, default=8, help="of each host")
    parser.add_argument("--bytes", type=numbers, default=[8, 65536, 64 << 20])
    parser.add_argument("--check", metavar="MEASURED.json")
    options = parser.parse_args()
    if options.check:
        return check(options.check)
    table(options.hosts, options.ranks, options.bytes, Costs())
    return 0


if __name__ == "__main__":
    sys.exit(main())
