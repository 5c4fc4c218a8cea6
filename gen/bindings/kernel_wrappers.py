"""The typed functions that the examples launch their kernels by: `kernelmill wrap` makes them."""

import re
import subprocess
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# source -> the wrappers made of it, by language
WRAPPERS = {
    "examples/sobel/sobel.cu": {
        "c": "examples/c/generated/sobel.h",
        "cpp": "examples/cpp/generated/sobel.hpp",
        "rust": "examples/rust/src/generated/sobel.rs",
        "go": "examples/go/generated/sobel/sobel.go",
        "zig": "examples/zig/generated/sobel.zig",
    },
    "examples/rust/kernels/product.cu": {"rust": "examples/rust/src/generated/product.rs"},
    "examples/rust/kernels/two_layers.cu": {"rust": "examples/rust/src/generated/two_layers.rs"},
    "bench/call_cost/wrapped.cu": {
        "c": "bench/call_cost/c/generated/wrapped.h",
        "cpp": "bench/call_cost/cpp/generated/wrapped.hpp",
        "rust": "bench/call_cost/rust/src/generated/wrapped.rs",
        "go": "bench/call_cost/go/generated/wrapped/wrapped.go",
        "zig": "bench/call_cost/zig/generated/wrapped.zig",
    },
}
# The compiler that made the PTX names itself there.
COMPILER = re.compile(r"Cuda compilation tools, release .*")


def text(tool: Path, source: str, language: str, path: Path) -> str:
    """The wrapper. It stays as it is where there is no NVRTC, or another one than made it."""
    committed = path.read_text() if path.exists() else ""
    command = tool.parents[1] / "bin" / "kernelmill"
    if not command.exists():
        return committed
    done = subprocess.run(
        [command, "wrap", source, "--lang", language],  # by its name in the tree, which PTX keeps
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        if "NVRTC" not in done.stderr:
            raise SystemExit(f"gen: {path}: {done.stderr}")
        print(f"gen: {path.relative_to(ROOT)} is not looked at: {done.stderr.splitlines()[0]}")
        return committed
    made, kept = COMPILER.search(done.stdout), COMPILER.search(committed)
    return done.stdout if kept is None or made is None or made[0] == kept[0] else committed


def outputs() -> dict:
    """file -> how it is made"""
    return {
        path: partial(text, source=source, language=language, path=ROOT / path)
        for source, wrappers in WRAPPERS.items()
        for language, path in wrappers.items()
    }
