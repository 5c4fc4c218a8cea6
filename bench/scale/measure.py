#!/usr/bin/env python3
"""Measures all-reductions and starts of 2, 4, 8 and 16 ranks of this machine several times.

    measure.py build/release/bench/bench_comm [RUNS] > ROWS      for allreduce.py --check ROWS

Ranks are threads and processes. Runs take turns, so that other work of the machine disturbs all.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from driver import comm  # pylint: disable=wrong-import-position

RANKS = (*comm.RANKS, 16)


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 64
    for _ in range(int(sys.argv[2]) if len(sys.argv) == 3 else 5):
        for ranks in RANKS:
            for row in comm.own_rows(Path(sys.argv[1]), {}, ranks):
                print(json.dumps(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
