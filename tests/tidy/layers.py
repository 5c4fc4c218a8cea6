"""The layers of the sources, from top to bottom: the one list that tidy and src/README.md go by."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Layer:
    name: str  # its folder, below src/ or, of OUTSIDE, below the root
    may_include: frozenset  # besides itself and COMMON_HEADERS
    text: str  # its line in src/README.md


def layer(name: str, may_include: str, text: str) -> Layer:
    return Layer(name, frozenset(may_include.split()), text)


# The headers of the C ABI by topic, their umbrella, and the C++ one.
COMMON_HEADERS = re.compile(r"(kernelmill/(\w+\.h|kernelmill\.hpp)|km_version\.h)$")

# An include points down this list only.
INSIDE = [
    layer("tools", "shaders spirv simt ptx base",
          "the command `kernelmill`, on the public ABI; shaders by the floors that make them"),
    layer("api", "core compile backend base",
          "one file per kind of object: resolves handles, validates, calls core"),
    layer("core", "backend compile base",
          "objects, handle table, bookkeeping of streams and memory, errors"),
    layer("backends", "backends/cuda backends/null backend base",
          "names the backends of this build; nothing else knows them all"),
    layer("backends/cuda", "backend cuda ptx base",
          "NVIDIA GPUs, by their driver; linked into the library, the driver is not"),
    layer("backends/cpu", "backend simt ptx math comm base",
          "the CPU: worker pool, streams, memory, faults (in the plugin)"),
    layer("backends/opengl", "backends/vulkan backend shaders spirv base",
          "GPUs by OpenGL: a driver for the backend of Vulkan (in a plugin of its own)"),
    layer("backends/vulkan", "backend spirv simt ptx base",
          "GPUs by Vulkan, with SPIR-V: queues, memory, launches (in the plugin)"),
    layer("backends/null", "backend base", "the compilable skeleton of a backend"),
    layer("backend", "base", "interface.h, the vtable that a backend implements; registry, loader"),
    layer("compile", "base", "CUDA C++ to PTX, by NVRTC"),
    layer("cuda", "base", "the types and prototypes of the CUDA driver"),
    layer("shaders", "base", "SPIR-V to other shading languages, by SPIRV-Cross"),
    layer("spirv", "simt ptx base", "PTX to SPIR-V, for Vulkan; no LLVM"),
    layer("simt", "ptx base", "PTX to vector code, by LLVM (in the plugin)"),
    layer("ptx", "base", "lexer, parser, typed form, verifier, printer; no LLVM"),
    layer("math", "base",
          "routines of libraries for the host's threads: FFT, sparse matrices, LAPACK"),
    layer("comm", "base",
          "communicators: collective operations between threads and processes"),
    layer("base", "", "Result, log, environment, shared libraries, hashes"),
]

# Beside src/.
OUTSIDE = [
    layer("dropin/cuda",
          "core backend compile cuda ptx dropin/toolchain dropin/frame dropin/library base",
          "libcuda.so.1: the CUDA driver API on the core"),
    layer("dropin/cudart", "dropin/frame cuda base",
          "libcudart: the CUDA runtime API on the driver API, ours or NVIDIA's"),
    layer("dropin/cusolver", "dropin/cublas dropin/library dropin/frame cuda math base",
          "libcusolver and libcusolverMg: LAPACK of OpenBLAS, and sparse solvers"),
    layer("dropin/cublas", "dropin/library dropin/frame core backend cuda base",
          "libcublas and libcublasLt: km_blas and kernels, on our driver library"),
    layer("dropin/curand", "dropin/library dropin/frame cuda base",
          "libcurand: kernels on the driver API"),
    layer("dropin/cufft", "dropin/library dropin/frame cuda math base",
          "libcufft and libcufftw: transforms of src/math, as work of streams"),
    layer("dropin/cusparse", "dropin/library dropin/frame cuda math base",
          "libcusparse: loops over rows, as work in streams of our driver library"),
    layer("dropin/nccl", "dropin/library dropin/frame cuda comm base",
          "libnccl: communicators of src/comm, their operations as work of streams"),
    layer("dropin/cudnn", "dropin/library dropin/frame cuda base",
          "libcudnn: loops on the driver's threads, and oneDNN"),
    layer("dropin/nvidia_smi", "dropin/nvml base", "nvidia-smi, on our NVML"),
    layer("dropin/nvml", "dropin/library dropin/frame cuda base",
          "libnvidia-ml: device queries by the driver API"),
    layer("dropin/cupti", "dropin/library dropin/frame backend cuda base",
          "libcupti: calls that profilers hear of, and records of operations"),
    layer("dropin/nvrtc", "dropin/library dropin/frame compile base",
          "libnvrtc: NVIDIA's compiler, with PTX in place of machine code"),
    layer("dropin/nvjitlink", "dropin/toolchain dropin/library dropin/frame compile ptx base",
          "libnvJitLink: links PTX; NVIDIA's compiles code for link-time optimisation"),
    layer("dropin/nvptxcompiler", "dropin/toolchain dropin/library dropin/frame base",
          "libnvptxcompiler: verifies PTX, by the functions of NVIDIA's PTX compiler"),
    layer("dropin/commands", "dropin/toolchain ptx base",
          "ptxas, nvlink, fatbinary and cuobjdump, for programs that call NVIDIA's"),
    layer("dropin/nvtx", "dropin/library dropin/frame cuda base",
          "libnvToolsExt and NVTX's injection: ranges in our traces"),
    layer("dropin/audit", "base",
          "what the dynamic linker asks under `kernelmill exec`; no C library"),
    layer("dropin/toolchain", "ptx base",
          "stands for NVIDIA's assembler and linker: cubins that hold PTX, fat binaries, linking"),
    layer("dropin/library", "dropin/frame backend cuda base",
          "shared by the CUDA libraries beside the driver: its functions, handles, kernels"),
    layer("dropin/frame", "cuda base",
          "the frame around exported functions of all drop-in libraries; the first failed call"),
    layer("gen", "ptx base", "what writes the generated files"),
]

LAYERS = {each.name: each for each in INSIDE + OUTSIDE}

# Files of code in a folder.
MAX_FILES = 25

# The exported functions of the driver library lie in a folder that no other one includes.
DROPIN = "dropin/cuda/"
DROPIN_EXPORTS = "dropin/cuda/api/"

# The inner floors of a room: the folders of it that each of its folders may include besides itself.
# A folder stands below all that include it. "" are the files right below the room: folders that
# these do not include may include their headers. "generated" lies below all others. A floor may be
# a room of its own.
ROOMS = {
    "src/simt": {
        "machine": set(),
        "": {"machine"},
        "kernel": set(),
        "runtime": {"machine"},
        "analysis": {"kernel"},
        "build": {"kernel"},
        "transform": {"analysis", "kernel"},
        "arithmetic": {"machine", "runtime"},
        "forms": {"arithmetic", "kernel", "runtime"},
        "program": {"analysis", "forms", "kernel", "transform"},
        "plan": {"analysis", "kernel", "program", "transform"},
        "passes": {"arithmetic", "machine"},
        "object": {"machine", "passes"},
        "codegen": {"analysis", "arithmetic", "forms", "kernel", "machine", "object", "passes",
                    "plan", "runtime", "transform"},
        "compile": {"codegen", "object", "plan", "program"},
    },
    "src/simt/analysis": {
        "": set(),
        "memory": set(),
        "control": {"memory"},
    },
    "src/simt/transform": {
        "": set(),
        "inline": set(),
    },
    "src/simt/arithmetic": {
        "": set(),
        "floating_point": set(),
        "families": {"floating_point"},
    },
    "src/simt/plan": {
        "": set(),
        "memory": set(),
        "values": {"memory"},
        "code": {"memory", "values"},
    },
    "src/simt/passes": {
        "cut": set(),
        "masks": set(),
        "nan": set(),
        "products": set(),
        "": {"cut", "masks", "nan", "products"},
    },
    "src/simt/runtime": {
        "": set(),
        "print": set(),
        "tensors": set(),
        "check": {"tensors"},
        "x86_64": set(),
        "aarch64": set(),
    },
    "src/simt/machine": {
        "": set(),
        "x86_64": set(),
        "aarch64": set(),
        "targets": {"x86_64", "aarch64"},
    },
    "src/simt/object": {
        "": set(),
        "x86_64": set(),
        "aarch64": set(),
    },
    "src/simt/codegen": {
        "": set(),
        "lower": set(),
        "modes": {"lower"},
    },
    "src/simt/codegen/lower": {
        "lanes": set(),
        "checks": {"lanes"},
        "memory": {"checks", "lanes"},
        "matrices": {"checks", "lanes"},
        "atomics": {"checks", "lanes"},
        "tensors": {"atomics", "lanes"},
        "": {"atomics", "checks", "lanes", "matrices", "memory", "tensors"},
    },
    "src/math": {
        "fft": set(),
        "lapack": set(),
        "sparse": set(),
    },
    "src/comm": {
        "operation": set(),
        "segment": {"operation"},
        "engine": {"operation", "segment"},
        "mpi": {"engine", "operation", "segment"},
        "group": {"engine", "mpi", "operation", "segment"},
    },
    "src/core": {
        "error": set(),
        "object": set(),
        "profiler": set(),
        "capture": {"object"},
        "device": {"object"},
        "context": {"capture", "device", "error", "object", "profiler"},
        "kernel": {"device"},
        "stream": {"capture", "context", "object"},
        "memory": {"context", "kernel", "object", "stream"},
        "blas": {"memory", "object", "stream"},
        "library": {"blas", "context", "object", "stream"},
        "module": {"context", "kernel", "memory", "object", "profiler", "stream"},
        "graph": {"blas", "capture", "context", "library", "memory", "module", "object", "stream"},
        "queue": {"blas", "graph", "library", "memory", "object", "stream"},
        "launch": {"device", "graph", "memory", "module", "object", "queue", "stream"},
    },
    "src/backends/cpu": {
        "threads": set(),
        "config": set(),
        "memory": {"config", "threads"},
        "order": set(),
        "counters": set(),
        "fault": {"memory", "threads"},
        "check": {"fault", "memory", "order"},
        "device": {"check", "config", "fault", "memory", "threads"},
        "trials": {"check", "fault", "memory"},
        "execution": {"check", "config", "counters", "fault", "memory", "trials", "threads"},
        "runtime": {"check", "config", "device", "execution", "fault", "memory", "trials",
                    "threads"},
        "command": {"check", "config", "device", "execution", "fault", "memory", "order", "trials",
                    "threads"},
        "stream": {"check", "command", "config", "counters", "device", "execution", "fault",
                   "memory", "order", "threads"},
        "buffers": {"check", "command", "config", "device", "fault", "memory", "order", "stream",
                    "threads"},
        "module": {"config", "device", "execution", "fault", "memory", "order", "stream",
                   "threads"},
        "launches": {"command", "config", "device", "execution", "memory", "module", "runtime",
                     "stream", "threads"},
        "blas": {"command", "config", "device", "stream"},
        "library": {"blas", "command", "config", "device", "stream", "threads"},
        "graph": {"blas", "command", "device", "launches", "library", "order", "stream",
                  "threads"},
        "plugin": {"check", "command", "config", "device", "fault", "memory", "module", "order",
                   "runtime", "stream", "threads"},
    },
    "src/backends/cuda": {
        "driver": set(),
        "context": {"driver"},
        "stream": {"context", "driver"},
        "module": {"context", "driver", "stream"},
        "memory": {"context", "driver", "module", "stream"},
        "blas": {"context", "driver", "memory", "module", "stream"},
        "library": {"blas", "context", "driver", "memory", "module", "stream"},
        "graph": {"blas", "context", "driver", "library", "memory", "module", "stream"},
        "table": {"driver"},
    },
    "src/backends/vulkan": {
        "driver": set(),
        "device": {"driver"},
        "stream": {"device", "driver"},
        "memory": {"device", "driver", "stream"},
        "module": {"device", "driver", "stream"},
        "graph": {"device", "driver", "memory", "module", "stream"},
        "table": {"driver", "stream"},
    },
    "src/backends/opengl": {
        "gl": set(),
        "device": {"gl"},
        "table": {"device", "gl"},
    },
    "dropin/cuda": {
        "frame": set(),
        "callback": set(),
        "device": {"frame"},
        "context": {"device", "frame"},
        "ipc": {"context", "device", "frame"},
        "stream": {"ipc", "context", "device", "frame"},
        "memory": {"stream", "context", "device", "frame"},
        "texture": {"memory", "stream", "context", "device", "frame"},
        "module": {"texture", "context", "device", "frame"},
        "launch": {"module", "stream", "context", "device", "frame"},
        "graph": {"launch", "module", "memory", "stream", "context", "device", "frame"},
        "api": {"graph", "launch", "module", "texture", "memory", "stream", "ipc", "context",
                "device", "callback", "frame"},
    },
    "dropin/cudart": {
        "frame": set(),
        "device": {"frame"},
        "module": {"device", "frame"},
        "memory": {"module", "device", "frame"},
        "graph": {"memory", "module", "device", "frame"},
        "v12": {"graph", "memory", "module", "device", "frame"},
        "v13": {"graph", "memory", "module", "device", "frame"},
        "api": {"graph", "memory", "module", "device", "frame"},
    },
    "dropin/cupti": {
        "frame": set(),
        "correlation": {"frame"},
        "activity": {"correlation", "frame"},
        "callback": {"activity", "correlation", "frame"},
        "api": {"callback", "activity", "correlation", "frame"},
        "version": {"activity"},
    },
    "dropin/cublas": {
        "kernels": set(),
        "version": set(),
        "frame": {"kernels"},
        "product": {"frame", "kernels"},
        "vectors": {"product", "frame", "kernels"},
        "xt": {"product", "frame"},
        "lt": {"product", "frame"},
        "api": {"xt", "vectors", "product", "frame", "version"},
        "api_lt": {"lt", "product", "frame", "version"},
    },
    "dropin/curand": {
        "kernels": set(),
        "data": set(),
        "generator": {"data", "kernels"},
        "api": {"generator"},
    },
    "dropin/cufft": {
        "version": set(),
        "frame": set(),
        "plan": {"frame"},
        "xt": {"plan", "frame", "version"},
        "api": {"xt", "plan", "frame", "version"},
        "fftw": set(),
        "api_fftw": {"fftw"},
    },
    "dropin/cusparse": {
        "frame": set(),
        "matrix": {"frame"},
        "generic": {"matrix", "frame"},
        "legacy": {"generic", "matrix", "frame"},
        "api": {"legacy", "generic", "matrix", "frame"},
    },
    "dropin/cusolver": {
        "version": set(),
        "frame": {"version"},
        "dense": {"frame"},
        "sparse": {"frame"},
        "mg": {"dense", "frame", "version"},
        "api": {"dense", "frame", "version"},
        "api_sp": {"sparse", "dense", "frame", "version"},
    },
    "dropin/nccl": {
        "frame": set(),
        "communicator": {"frame"},
        "group": {"communicator", "frame"},
        "api": {"group", "communicator", "frame"},
    },
    "dropin/cudnn": {
        "parts": set(),
        "frame": set(),
        "engine": {"frame"},
        "descriptors": {"engine", "frame"},
        "graph": {"engine", "frame"},
        "sequence": {"descriptors", "engine", "frame"},
        "api": {"graph", "sequence", "descriptors", "engine", "frame"},
    },
}


def may_include(room: str, folder: str):
    """The folders of the room that a folder of it may include; None: its table lacks the folder."""
    floors = ROOMS[room]
    if folder not in floors:
        return None
    below_files = folder in floors.get("", ())
    return floors[folder] | {folder, "generated"} | (set() if below_files else {""})


# Folders of these names, at any depth, have what one architecture alone builds.
ARCHITECTURES = ("x86_64", "aarch64")
# Functions and members of a class.
MAX_CLASS = (60, 25)


def layer_of(path: str):
    """The layer that a file lies in, or that an include names; None: none."""
    folder = path.rpartition("/")[0]
    while folder and folder not in LAYERS:
        folder = folder.rpartition("/")[0]
    return folder or None


def readme_lines() -> list:
    """The list as src/README.md has it."""
    return [f"    {each.name + '/':<17}{each.text}" for each in INSIDE]
