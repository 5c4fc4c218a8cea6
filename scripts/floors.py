#!/usr/bin/env python3
"""floors.py [ROOM ...]: draws the floors of rooms, the top one first, with what each includes.

A room is a folder whose subfolders are floors: src/core, src/backends/cpu, dropin/cuda. Below the
drawing stand pairs of floors that include each other, with the includes that make them, and knots:
units (a header and its source) that include each other in a circle. Ends with 1 if a room of
tests/tidy/layers.py has a pair, or a knot of more than four units.
"""

import collections
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/tidy"))
from layers import ROOMS  # noqa: E402
from rules_code import INCLUDE  # noqa: E402

MOST_UNITS = 4


def includes_of(room: str):
    """Pairs of files of the room: one, and another that it includes."""
    for folder, _, names in os.walk(os.path.join(ROOT, room)):
        for name in sorted(names):
            if not name.endswith((".h", ".cpp")):
                continue
            path = os.path.relpath(os.path.join(folder, name), ROOT)
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                for own, _ in INCLUDE.findall(file.read()):
                    for target in (f"src/{own}", own):
                        if target.startswith(room + "/") and os.path.exists(f"{ROOT}/{target}"):
                            yield path, target


def circles(graph: dict) -> list:
    """Sets of nodes that reach each other, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(stack[at:])
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return [sorted(circle) for circle in found if len(circle) > 1]


def floor_of(path: str, room: str) -> str:
    inside = path[len(room) + 1 :]
    return inside.split("/")[0] if "/" in inside else "."


def heights(floors: dict) -> dict:
    """How high each floor stands: above all that it includes, as far as there is no circle."""
    height = dict.fromkeys(floors, 0)
    for _ in floors:
        for floor, below in floors.items():
            height[floor] = max([height[floor]] + [height[b] + 1 for b in below
                                                   if floor not in floors[b]])
    return height


def draw(room: str) -> bool:
    floors, units = collections.defaultdict(set), collections.defaultdict(set)
    between = collections.defaultdict(list)
    for path, target in includes_of(room):
        one, other = floor_of(path, room), floor_of(target, room)
        floors[one], floors[other]
        if one != other:
            floors[one].add(other)
            between[one, other].append(f"{path} -> {target}")
        unit, used = os.path.splitext(path)[0], os.path.splitext(target)[0]
        if unit != used:
            units[unit].add(used)
    pairs = sorted(pair for pair in between if pair[0] < pair[1] and pair[::-1] in between)
    knots = circles(units)
    height = heights(floors)
    print(room)
    for floor in sorted(floors, key=lambda each: (-height[each], each)):
        print(f"  {floor:<12} {' '.join(sorted(floors[floor], key=height.get, reverse=True))}")
    for pair in pairs:
        print(f"  pair: {pair[0]}, {pair[1]}")
        for line in between[pair] + between[pair[::-1]]:
            print(f"    {line}")
    for knot in knots:
        print("  knot:", ", ".join(unit[len(room) + 1 :] for unit in knot))
    return room not in ROOMS or not pairs and all(len(knot) <= MOST_UNITS for knot in knots)


def main() -> int:
    sys.setrecursionlimit(10_000)
    results = [draw(room.rstrip("/")) for room in sys.argv[1:] or sorted(ROOMS)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
