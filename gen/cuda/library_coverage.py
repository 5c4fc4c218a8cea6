"""docs/reference/library-coverage.md: the functions of the CUDA libraries beside the driver: which
are there, and how they are tested.

Built files say so: a function that is not implemented is a weak symbol of its library, and a test
that calls one has it undefined. Where libraries or tests are not built, the committed page counts
as fresh; `make gen` after a whole build brings it up to date.
"""

import re
import subprocess
from pathlib import Path

from cuda.dropin_coverage import listed

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/reference/library-coverage.md"
RANDOM_CALLS = ROOT / "tests/fuzz_api/generated/library_calls.inc"
HOSTILE = "km_libraries_hostile"  # calls all functions of some libraries with any arguments
# (heading, file below the libraries' folder, table of functions below dropin/)
LIBRARIES = [
    ("cuBLAS", "13/libcublas.so.13", "cublas/generated/functions.def"),
    ("cublasLt", "13/libcublasLt.so.13", "cublas/generated/lt_functions.def"),
    ("cuFFT", "13/libcufft.so.12", "cufft/generated/functions.def"),
    ("cuFFTW", "13/libcufftw.so.12", "cufft/generated/fftw_functions.def"),
    ("cuRAND", "libcurand.so.10", "curand/generated/functions.def"),
    ("cuSPARSE", "libcusparse.so.12", "cusparse/generated/functions.def"),
    ("cuSOLVER", "13/libcusolver.so.12", "cusolver/generated/functions.def"),
    ("cusolverMg", "13/libcusolverMg.so.12", "cusolver/generated/mg_functions.def"),
    ("cuDNN", "libcudnn.so.9", "cudnn/generated/functions.def"),
    ("NCCL", "libnccl.so.2", "nccl/generated/functions.def"),
    ("CUPTI", "13/libcupti.so.13", "cupti/generated/functions.def"),
    ("NVML", "libnvidia-ml.so.1", "nvml/generated/functions.def"),
]
# Why functions are missing: the first pattern that a name begins with, in the library's section.
UNDECLARED = "NVIDIA's headers do not declare them"
REASONS = {
    "cuSPARSE": [(r"cusparseSpMMOp", "their operators are code for NVIDIA's linker (LTO-IR)")],
    "cuDNN": [
        (r"cudnn(Create|Destroy|Make|Get|Set)?FusedOps", "fused operations of version 7, whose "
         "place the graphs have"),
        (r"cudnnBackend\w+CudaGraph", "executions are captured into graphs instead"),
        (r"cudnn(B2B|FFT|LongFFT)?CausalConv|cudnnGnn", "layers of `libcudnn_ext`"),
    ],
    "NCCL": [
        (r"ncclParam", "settings are variables of the environment"),
        (r"nccl(PutSignal|Signal|WaitSignal)", "one-sided messages"),
        (r"ncclSetEncryption", "encryption of messages between machines"),
    ],
    "CUPTI": [
        (r"cupti(Device\w*|Enum|EventGroup|Event|Metric|GetNum|SetEvent)\w*"
         r"(Event|Metric|Domain|Group)|cupti(SetEvent|Metric|Event)|cupti\w*KernelReplay",
         "counters of hardware, which a CPU has not"),
        (r"cupti(Profiler|RangeProfiler|PmSampling|SassMetrics)",
         "counters of hardware, by ranges, samples or machine code"),
        (r"cupti(PCSampling|ActivityConfigurePCSampling)|cupti\w*(Cubin|Crc|Sass)",
         "samples of machine code, of which there is none"),
        (r"cuptiActivity\w+_v2|cuptiGetEnabledCallbacks|cuptiActivityGetEnabledKinds",
         "a subscriber's own buffers: there is one subscriber"),
        (r"cupti(ClockControl|GetAutoBoost|DeviceVirtualization)|"
         r"cuptiActivityConfigureUnifiedMemory", "settings of hardware"),
        (r"cuptiOpenACC", "OpenACC's calls are not told of"),
        (r"cupti", "not written"),
    ],
    "NVML": [(r"nvml", "states of hardware that a CPU has not, or shows otherwise")],
}  # fmt: skip
# Weak functions that are there all the same: cuSOLVER's answers about workspaces are alike.
ALSO_THERE = re.compile(r"cusolverDn\w+_bufferSize")


def symbols(path, *flags):
    """{name: letter of its kind} of a file's dynamic symbols."""
    done = subprocess.run(["nm", "-D", *flags, path], capture_output=True, text=True, check=True)
    rows = (line.split()[-2:] for line in done.stdout.splitlines())
    return {name.partition("@")[0]: letter for letter, name in rows}


def reason_of(heading, name, undeclared):
    if name in undeclared:
        return UNDECLARED
    return next(reason for pattern, reason in REASONS[heading] if re.match(pattern, name))


def missing_text(heading, missing, undeclared):
    """The missing functions, by reason."""
    groups = {}
    for name in sorted(missing):
        groups.setdefault(reason_of(heading, name, undeclared), []).append(name)
    return [f"\nNot there ({reason}): {listed(names)}" for reason, names in groups.items()]


def library_text(heading, have, called, random, undeclared):
    missing = [name for name, letter in have.items()
               if letter in "Ww" and not ALSO_THERE.fullmatch(name)]  # fmt: skip
    there = set(have) - set(missing)
    tested, tried = there & called, there & random - called
    untested = there - tested - tried
    row = (f"| {heading} | {len(have)} | {len(there)} | {len(tested)} | {len(tried)} "
           f"| {len(untested)} |\n")  # fmt: skip
    lines = [f"\n## {heading}\n", *missing_text(heading, missing, undeclared)]
    for words, names in (("Called by random calls alone", tried), ("In no test", untested)):
        if names:
            lines.append(f"\n{words}: {listed(sorted(names))}")
    if len(lines) == 1:
        lines.append("\nAll functions are there, and tests call each.\n")
    return row, "".join(lines)


def text(tool):
    build = tool.resolve().parents[1]
    folders = sorted((build / "lib").glob("kernelmill-*/cuda"))
    tests = sorted((build / "tests").glob("km_libraries_*")) + sorted(
        (build / "tests").glob("km_cublas_*"))  # fmt: skip
    has_all = folders and tests and all((folders[-1] / file).exists() for _, file, _ in LIBRARIES)
    if not has_all:
        return (ROOT / PAGE).read_text()
    random = set(re.findall(r'^    \{"(\w+)",', RANDOM_CALLS.read_text(), re.M))
    called = set()
    for test in tests:
        if test.suffix == "":
            (random if test.name == HOSTILE else called).update(symbols(test, "--undefined-only"))
    rows, details = [], []
    for heading, file, table in LIBRARIES:
        found = symbols(folders[-1] / file, "--defined-only")
        functions = (ROOT / "dropin" / table).read_text()
        names = re.findall(r"^KM_\w+\((\w+),", functions, re.M)
        # The generator has no parameters for those that only the library exports.
        undeclared = set(re.findall(r"^KM_\w+\((\w+), \w+, \(\),", functions, re.M))
        row, detail = library_text(heading, {name: found.get(name, "W") for name in names}, called,
                                   random, undeclared)  # fmt: skip
        rows.append(row)
        details.append(detail)
    return "".join([
        "<!-- Generated by `make gen` from the built libraries and tests. -->\n",
        "# What the libraries beside the driver implement\n\n",
        "All names that NVIDIA's libraries export are there; a function that is not implemented "
        "returns its library's\n\"not supported\" and says so in the log. What differs is in [the "
        "guide](../guide/libraries.md).\n\n",
        "| library | functions | there | called by tests of values and errors | by random calls "
        "alone | in no test |\n|---|---|---|---|---|---|\n", *rows, *details,
    ])  # fmt: skip


def outputs():
    return {PAGE: text}
