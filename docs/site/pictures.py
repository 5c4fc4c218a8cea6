#!/usr/bin/env python3
"""Takes the pictures of the site: pictures.py --command KERNELMILL --output FOLDER.

report.png is a report of `kernelmill trace`, as a browser shows it. trace.png shows the trace of
the same program: its time axis, tracks, work and arrows, drawn from the events of the file.
"""

import argparse
import html
import json
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
COLOURS = {"kernel": "#3575cf", "upload": "#b3611a", "download": "#b3611a", "fill": "#84701c",
           "copy": "#b3611a", "wait": "#707070", "call": "#5c7693", "compile": "#bd4873",
           "range": "#357f46", "callback": "#8e5bb5"}
KERNELS = """
extern "C" __global__ void smooth(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = -64; k <= 64; ++k) sum += in[min(max(i + k, 0), n - 1)];
  if (i < n) out[i] = sum / 129;
}
"""
WIDTH, ROW, LEFT = 1200, 26, 150


def program(command: Path) -> list:
    return [command, "run", "smooth.cu", "--device", "cpu", "--grid", "1024", "--block", "256",
            "--arg", "zeros:f32[262144]", "--arg", "out:y.npy:f32[262144]", "--arg", "i32:262144",
            "--repeat", "6", "--quiet"]


def round_step(least: float) -> float:
    """1, 2 or 5 times a power of ten, not below `least`."""
    power = 10 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)


def drawing(trace: dict) -> str:
    """The device's part of a trace as SVG, without the compilation before it."""
    events = trace["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    work = [e for e in events if e["ph"] == "X" and e["cat"] != "compile"]
    kernels = [e for e in work if e["cat"] == "kernel"]
    process, begin = kernels[0]["pid"], kernels[1]["ts"] - 200
    work = [e for e in work if e["pid"] == process and e["ts"] >= begin]
    end = max(e["ts"] + e["dur"] for e in work)
    tracks = sorted({(e["pid"], e["tid"]) for e in work}, reverse=True)
    rows = {track: 40 + 2 * ROW * i for i, track in enumerate(tracks)}

    def x(time):
        return LEFT + (time - begin) / (end - begin) * (WIDTH - LEFT - 10)

    height = 50 + 2 * ROW * len(tracks)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="#fff"/>']
    step = round_step((end - begin) / 8)
    for mark in range(int((end - begin) / step) + 1):
        at = x(begin + mark * step)
        out.append(f'<line x1="{at:.1f}" y1="22" x2="{at:.1f}" y2="{height}" stroke="#ddd"/>')
        side = "end" if at > WIDTH - 60 else "start"
        out.append(f'<text x="{at:.1f}" y="16" fill="#666" text-anchor="{side}">'
                   f'{mark * step / 1000:g} ms</text>')
    for track, y in rows.items():
        out.append(f'<text x="6" y="{y + 15}">{html.escape(names[track])}</text>')
    for event in sorted(work, key=lambda e: -e["dur"]):
        y, width = rows[event["pid"], event["tid"]], max(x(event["ts"] + event["dur"]) -
                                                         x(event["ts"]), 1)
        out.append(f'<rect x="{x(event["ts"]):.1f}" y="{y}" width="{width:.1f}" height="{ROW - 6}" '
                   f'fill="{COLOURS[event["cat"]]}" stroke="#fff" '
                   f'stroke-width="{1 if width > 4 else 0}"/>')
        if width > 60:
            out.append(f'<text x="{x(event["ts"]) + 4:.1f}" y="{y + 14}" fill="#fff">'
                       f'{html.escape(event["name"])}</text>')
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    for finish in (e for e in events if e["ph"] == "f"):
        start = starts[finish["id"]]
        if start["pid"] != process or start["ts"] < begin or finish["ts"] < begin:
            continue
        out.append(f'<line x1="{x(start["ts"]):.1f}" y1="{rows[start["pid"], start["tid"]] + 10}" '
                   f'x2="{x(finish["ts"]):.1f}" y2="{rows[finish["pid"], finish["tid"]] + 10}" '
                   'stroke="#333" stroke-width="0.8"/>'
                   f'<circle cx="{x(finish["ts"]):.1f}" r="2.5" fill="#333" '
                   f'cy="{rows[finish["pid"], finish["tid"]] + 10}"/>')
    return "\n".join([*out, "</svg>"])


def take(browser: str, page: Path, picture: Path, size: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu",
                        "--hide-scrollbars", "--disable-dev-shm-usage",
                        f"--user-data-dir={folder}", f"--window-size={size}",
                        f"--screenshot={picture}", f"file://{page}"],
                       check=True, capture_output=True, timeout=300)


def main() -> int:
    parser = argparse.ArgumentParser(description="takes the pictures of the site")
    parser.add_argument("--command", type=Path, required=True, help="the program kernelmill")
    parser.add_argument("--output", type=Path, required=True, help="where the pictures go")
    options = parser.parse_args()
    browser = next((shutil.which(name) for name in BROWSERS if shutil.which(name)), None)
    if browser is None:
        print("pictures: no Chromium is installed", file=sys.stderr)
        return 1
    command, output = options.command.resolve(), options.output.resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "smooth.cu").write_text(KERNELS)
        for name in ("report.html", "trace.json"):
            subprocess.run([command, "trace", "-o", name, "--", *program(command)], cwd=work,
                           check=True, capture_output=True, timeout=300)
        (work / "trace.svg").write_text(drawing(json.loads((work / "trace.json").read_text())))
        take(browser, work / "report.html", output / "report.png", "1000,1100")
        take(browser, work / "trace.svg", output / "trace.png", f"{WIDTH},170")
    return 0


if __name__ == "__main__":
    sys.exit(main())
