"""Names, versions, constants and prototypes of the CUDA driver API, from the public headers.

The headers are those of the newest CUDA version, which also declare the older versions of each
function. Only the ABI is taken: names, numbers and types.
"""

import functools
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = "src/cuda/generated"


def include_folder():
    packages = pathlib.Path(os.environ.get("KM_NVRTC") or ROOT / ".deps")
    found = sorted(packages.glob("nvidia/cu*/include/cuda.h"))
    if not found:
        raise SystemExit(f"gen: no cuda.h below {packages}: run `make setup`")
    return found[-1].parent


# Exports of the library that no header declares: (name, kind, bytes). Functions of the
# driver return CUresult, those of the debugger CUDBGResult or nothing.
UNDECLARED = [
    *((name, "function", 0) for name in (
        "cuEGLApiInit", "cuEGLInit", "cuLaunchCooperativeGrid", "cuLaunchCooperativeGrid_ptsz",
        "cuMemGetAttribute", "cuMemGetAttribute_v2",
    )),
    *((name, "debugger", 0) for name in (
        "cudbgApiAttach", "cudbgApiDetach", "cudbgApiInit", "cudbgGetAPI", "cudbgGetAPIVersion",
        "cudbgMain", "cudbgReportDriverApiError", "cudbgReportDriverInternalError",
    )),
    *((name, "variable", 4) for name in (
        "cudbgApiClientPid", "cudbgApiClientRevision", "cudbgAttachHandlerAvailable",
        "cudbgDebuggerCapabilities", "cudbgDebuggerInitialized", "cudbgDetachSuspendedDevicesMask",
        "cudbgEnableIntegratedMemcheck", "cudbgEnableLaunchBlocking",
        "cudbgEnablePreemptionDebugging", "cudbgInitiateDebuggerAttachProcedureFd", "cudbgIpcFlag",
        "cudbgReportDriverApiErrorFlags", "cudbgResumeForAttachDetach", "cudbgRpcEnabled",
        "cudbgSessionId", "cudbgUseExternalDebugger",
    )),
    *((name, "variable", 8) for name in (
        "cudbgReportedDriverApiErrorCode", "cudbgReportedDriverApiErrorFuncNameAddr",
        "cudbgReportedDriverApiErrorFuncNameSize", "cudbgReportedDriverInternalErrorCode",
    )),
    ("cudbgInjectionPath", "variable", 4096),
]  # fmt: skip

# Headers of graphics libraries that NVIDIA's headers include, of which only names are used.
GRAPHICS_HEADERS = ["GL/gl.h", "EGL/egl.h", "EGL/eglext.h", "vdpau/vdpau.h"]
GRAPHICS_TEXT = """#include <cudaGLTypedefs.h>
#include <cudaEGLTypedefs.h>
#include <cudaVDPAUTypedefs.h>
"""


def preprocess(include, *flags, graphics=GRAPHICS_TEXT):
    with tempfile.TemporaryDirectory() as folder:
        for header in GRAPHICS_HEADERS:
            empty = pathlib.Path(folder) / header
            empty.parent.mkdir(exist_ok=True)
            empty.touch()
        command = ["g++", "-E", "-P", "-x", "c++", f"-I{include}", f"-I{folder}", *flags, "-"]
        text = "#include <cuda.h>\n#include <cudaTypedefs.h>\n" + graphics
        done = subprocess.run(command, input=text, text=True, check=True, capture_output=True)
    return done.stdout


def parameters(text):
    """The types of parameters: 'const void *p, size_t n' gives ['const void*', 'size_t']."""
    found = []
    for part in text.split(","):
        part = re.sub(r"\bstruct\s+", "", part.strip())
        if part in ("", "void"):
            continue
        is_array = part.endswith("]")
        part = re.sub(r"\[\w*\]$", "", part)
        match = re.match(r"^(.*?[\s*])(\w+)$", part)
        kind = part
        if match and match.group(2) not in ("int", "long", "char", "size_t", "unsigned"):
            kind = match.group(1)
        kind = re.sub(r"\s*\*\s*", "*", kind).strip() + ("*" if is_array else "")
        found.append(re.sub(r"\*(?=\w)", "* ", kind))
    return found


PROTOTYPE = re.compile(r"\bCUresult\s+(cu[A-Z]\w*)\s*\(([^()]*)\)\s*;")


def prototypes(text):
    found = {}
    for name, inside in PROTOTYPE.findall(text):
        found.setdefault(name, parameters(inside))
    return found


def parameter_names(text):
    """{symbol: [names of parameters]}"""
    found = {}
    for name, inside in PROTOTYPE.findall(text):
        parts = [re.sub(r"\[\w*\]$", "", part.strip()) for part in inside.split(",")]
        found.setdefault(name, [re.search(r"\w+$", p)[0] for p in parts if p not in ("", "void")])
    return found


def versions(text):
    """{base: [(version, suffix)]}, oldest first."""
    found = {}
    for base, version, suffix in re.findall(r"PFN_(cu\w+?)_v(\d+)(_pt(?:ds|sz))?\)", text):
        found.setdefault((base, suffix), set()).add(int(version))
    return {key: sorted(value) for key, value in found.items()}


def version_of(name, known):
    """The base name and the CUDA version of a symbol; version 0 if it has none."""
    suffix = re.search(r"_pt(?:ds|sz)$", name)
    suffix = suffix.group(0) if suffix else ""
    plain = name[: len(name) - len(suffix)]
    base = re.sub(r"_v\d+$", "", plain)
    have = known.get((base, suffix), [])
    spelled = re.search(r"_v(\d+)$", plain)
    place = int(spelled.group(1)) - 1 if spelled else 0
    # The version is not in the list: the first one was never in these headers.
    return base, suffix, have[min(place, len(have) - 1)] if have else 0


def enumerations(text):
    """Each enum typedef as an alias of its integer type, with the values as constants."""
    lines = []
    for body, name in re.findall(r"typedef enum\s*\w*\s*\{([^{}]*)\} ?(\w+);", text):
        if not name.startswith("CU"):
            continue
        lines.append(f"using {re.sub(r'_v1$', '', name)} = int32_t;\nenum : int32_t {{\n")
        for each in body.split(","):
            each = " ".join(each.split())
            if each:
                lines.append(f"  {each},\n")
        lines.append("};\n")
    return lines


@functools.cache
def preprocessed():
    """The preprocessed headers: the public declarations, and those of older versions of functions.
    """
    include = include_folder()
    return preprocess(include), preprocess(include, "-D__CUDA_API_VERSION_INTERNAL")


@functools.cache
def read():
    include = include_folder()
    release = re.search(r"#define CUDA_VERSION (\d+)", (include / "cuda.h").read_text())
    number = int(release.group(1))
    version = f"{number // 1000}.{number % 1000 // 10}"
    public, internal = preprocessed()
    known = versions(internal)
    per_thread = preprocess(include, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM")
    for key, value in versions(per_thread).items():
        known.setdefault(key, value)
    functions = prototypes(internal)
    functions.update(prototypes(public))
    # cudaProfiler.h is not in the package.
    functions["cuProfilerInitialize"] = ["const char*", "const char*", "CUoutput_mode"]
    functions["cuProfilerStart"] = functions["cuProfilerStop"] = []
    for name in ("cuProfilerInitialize", "cuProfilerStart", "cuProfilerStop"):
        known[name, ""] = [4000]
    return version, dict(sorted(functions.items())), known


def banner(note=""):
    text = f"// Generated by `make gen` from the public headers of CUDA {read()[0]}.\n"
    return text + (f"// {note}\n" if note else "")


def prototypes_text():
    lines = [banner(), "// clang-format off\n"]
    for name, types in read()[1].items():
        lines.append(f"CUresult {name}({', '.join(types)});\n")
    return "".join(lines)


def functions_text():
    lines = [banner("KM_CUDA_FUNCTION(symbol, base name, suffix, CUDA version)")]
    for name in read()[1]:
        base, suffix, version = version_of(name, read()[2])
        lines.append(f'KM_CUDA_FUNCTION({name}, "{base}", "{suffix}", {version})\n')
    return "".join(lines)


def undeclared_text():
    lines = [banner("Names that the driver library exports and no header declares.")]
    for name, kind, size_bytes in sorted(UNDECLARED):
        more = f", {size_bytes}" if size_bytes else ""
        lines.append(f"KM_CUDA_{kind.upper()}({name}{more})\n")
    return "".join(lines)


def enums_text():
    text = preprocess(include_folder(), graphics="")
    return "".join([banner(), "// clang-format off\n", *enumerations(text)])


def outputs():
    return {
        f"{FOLDER}/prototypes.h": lambda tool: prototypes_text(),
        f"{FOLDER}/functions.def": lambda tool: functions_text(),
        f"{FOLDER}/undeclared.def": lambda tool: undeclared_text(),
        f"{FOLDER}/enums.h": lambda tool: enums_text(),
    }
