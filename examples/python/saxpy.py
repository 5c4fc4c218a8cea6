#!/usr/bin/env python3
"""y += a x in ten lines, on a GPU where there is one, else on the CPU. saxpy.py KERNEL.cu"""

import sys

import kernelmill as km


def main() -> int:
    kernel_file = sys.argv[1] if len(sys.argv) == 2 else "saxpy.cu"
    # docs/bindings.md shows what follows.
    with km.Context("auto") as context:
        saxpy = context.module(kernel_file).function("saxpy")
        x = context.array([1] * 1000, "float32")
        y = context.zeros(1000, "float32")
        saxpy[4, 256](x, y, 2.0, 1000)
        print(f"y[999] = {y.tolist()[999]:g}")
    # docs/bindings.md shows no more.
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except km.Error as failure:
        sys.exit(str(failure))
