"""What the figures were measured on."""
import datetime
import os
import platform
import re
from pathlib import Path


def generation(family, model):
    """AMD's servers all have the same name."""
    if family == 26:
        return " (Zen 5)"
    if family == 25:
        return " (Zen 4)" if model in range(0x10, 0x20) or model >= 0x60 else " (Zen 3)"
    return ""


def processor():
    """The first processor's name."""
    found = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        found.setdefault(key.strip(), value.strip())
    if "model name" not in found:
        return platform.machine()
    name = found["model name"]
    if "AMD" in name and "cpu family" in found:
        name += generation(int(found["cpu family"]), int(found.get("model", 0)))
    return name


def forced_vectors():
    """VECTORS=AVX2 where the machine has more; else nothing."""
    wanted = os.environ.get("VECTORS", "")
    if wanted not in ("", "AVX2"):
        raise SystemExit(f"VECTORS={wanted}: only AVX2 can be asked for")
    return wanted


def require_same_vectors(build):
    """The contestants in C++ are told when they are built."""
    wanted = "x86-64-v3" if forced_vectors() else "native"
    found = re.search(r"^KM_BENCH_ARCH:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    if found is None or found[1] != wanted:
        has = found[1] if found else "nothing"
        raise SystemExit(f"{build}: KM_BENCH_ARCH is {has}, these figures need {wanted}: "
                         f"cmake -B {build} -DKM_BENCH_ARCH={wanted}, and build kernelmill_bench")


def vectors():
    if forced_vectors():
        return f"{forced_vectors()} asked for"
    flags = Path("/proc/cpuinfo").read_text().split()
    return "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "SSE"


def facts():
    return {"processor": processor(), "vectors": vectors(), "cpus": os.cpu_count(),
            "date": datetime.date.today().isoformat()}


def line(threads, quick):
    text = f"{processor()} ({vectors()}), {threads} threads, {facts()['date']}"
    return text + (", quick run: indicative only" if quick else "")
