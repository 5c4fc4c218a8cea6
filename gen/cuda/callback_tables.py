"""The calls of the driver and the runtime as CUPTI numbers them: dropin/*/generated/calls*.def.

The numbers are those of NVIDIA's cupti_driver_cbid.h and cupti_runtime_cbid.h, whose package is no
part of the set-up: without them (KM_NVIDIA_INCLUDE names the folders of CUDA 12's and 13's) the
committed numbers count as fresh.
"""

import os
import pathlib
import re

from cuda import cuda_driver, cuda_runtime
from cuda.cuda_driver import ROOT

DRIVER_PATH = "dropin/cuda/generated/calls.def"
RUNTIME_FOLDER = "dropin/cudart/generated"


def header_texts(name):
    """The headers of that name in the folders of KM_NVIDIA_INCLUDE, from CUDA 12's to CUDA 13's."""
    folders = filter(None, os.environ.get("KM_NVIDIA_INCLUDE", "").split(":"))
    found = [path for each in folders if (path := pathlib.Path(each) / name).exists()]
    return [each.read_text() for each in found]


def numbers(text, domain):
    return {name: int(number) for name, number in re.findall(
        rf"CUPTI_{domain}_TRACE_CBID_(\w+)\s*=\s*(\d+)", text)}  # fmt: skip


def committed(path):
    return {name: int(number) for name, number in re.findall(
        r"KM_API_CALL\((\w+), (\d+),", (ROOT / path).read_text())}  # fmt: skip


def call_line(name, number, types):
    """Parameters are called a, b, c ...: their order is all that matters."""
    names = [chr(ord("a") + i) for i in range(len(types))]
    declared = ", ".join(f"{kind} {each}" for kind, each in zip(types, names, strict=True))
    return f"KM_API_CALL({name}, {number}, ({declared}), ({', '.join(names)}))\n"


def driver_text():
    headers = header_texts("cupti_driver_cbid.h")
    known = numbers(headers[-1], "DRIVER") if headers else committed(DRIVER_PATH)
    lines = [cuda_driver.banner("KM_API_CALL(symbol, number, parameters, arguments); "
                                "number 0: CUPTI has none")]  # fmt: skip
    lines += [call_line(name, known.get(name, 0), types)
              for name, types in cuda_driver.read()[1].items()]  # fmt: skip
    return "".join(lines)


def runtime_path(which):
    return f"{RUNTIME_FOLDER}/calls{'' if which == 'common' else '_' + which}.def"


def runtime_numbers(text):
    """The number of each function by its name, which the header follows with a version; of several
    the last.
    """
    found = {}
    for name, number in numbers(text, "RUNTIME").items():
        base = re.sub(r"_v\d+$", "", name)
        found[base] = max(number, found.get(base, 0))
    return found


# Functions that compilers call for a function of the public API.
SAME_CALL = {"__cudaLaunchKernel": "cudaLaunchKernel",
             "__cudaLaunchKernel_ptsz": "cudaLaunchKernel_ptsz"}  # fmt: skip


def runtime_text(which):
    headers, known = header_texts("cupti_runtime_cbid.h"), {}
    # Names mean other functions in CUDA 12 and 13: those of the table's own version come last.
    for header in reversed(headers) if which == "12" else headers:
        known.update(runtime_numbers(header))
    known = known or committed(runtime_path(which))
    found = dict(cuda_runtime.select(which))
    if which == "common":
        found.update({name: cuda_runtime.COMPILER[name] for name in SAME_CALL})
    lines = [cuda_runtime.banner("KM_API_CALL(symbol, number, parameters, arguments); "
                                 "number 0: CUPTI has none")]  # fmt: skip
    for name, inside in sorted(found.items()):
        if name in cuda_runtime.OTHER_RESULTS:
            continue
        number = known.get(SAME_CALL.get(name, name) if headers else name, 0)
        lines.append(call_line(name, number, cuda_runtime.parameters(inside)))
    return "".join(lines)


def outputs():
    runtime = {runtime_path(each): lambda tool, which=each: runtime_text(which)
               for each in ("common", "12", "13")}  # fmt: skip
    return {DRIVER_PATH: lambda tool: driver_text(), **runtime}
