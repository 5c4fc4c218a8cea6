"""Types, prototypes and exported functions of NVIDIA's libraries beside the driver, from the public
headers of each: dropin/*/generated/api.h and functions.def.

A new library is a row of LIBRARIES. Only names, numbers and types are taken, whatever the types of
other libraries are: gcc does nothing but expand macros, so that an empty text can stand in for
their headers. The headers of some libraries come in packages too large for a set-up; while a header
lies in none of the folders below, the committed tables count as fresh.
"""

import collections
import functools
import os
import pathlib
import re
import subprocess
import tempfile
from dataclasses import dataclass, field

from cuda.cuda_driver import ROOT


@dataclass(frozen=True)
class Library:
    name: str  # of its macros; its room below dropin/ unless `room` says another
    header: str
    prefix: str  # a pattern that names of its functions and types begin with
    package: str  # where the header comes from, for people
    version: str  # a pattern in the header; its groups are the version's parts
    room: str = ""
    api_file: str = "api.h"
    functions_file: str = "functions.def"  # empty: the header has none
    more_headers: tuple = ()  # further ones, in the folder of the first
    defines: tuple = ()
    stand_ins: dict = field(default_factory=dict)  # for headers that it includes: {name: text}
    left_out: frozenset = frozenset()  # declared, but not exported
    undeclared: tuple = ()  # exported, but not declared: their parameters are not looked at
    includes: tuple = ()  # lines for types that are not its own
    constants: str = ""  # a pattern for macros whose numbers are taken
    types: str = ""  # a pattern for types that are taken although no function names them
    structures: str = ""  # a pattern for structures whose members are taken

    def path(self, file):
        return f"dropin/{self.room or self.name}/generated/{file}"

    @property
    def headers(self):
        return (self.header, *self.more_headers)


CUDA_TYPES = '#include "dropin/library/cuda_types.h"\n\n'
BLAS_STAND_INS = dict.fromkeys(("cuda_runtime.h", "driver_types.h", "library_types.h",
                                "cuComplex.h", "cuda_fp16.h", "cuda_bf16.h", "stdint.h",
                                "stddef.h", "stdio.h"), "")  # fmt: skip
BLAS_VERSION = r"#define CUBLAS_VER_MAJOR (\d+)\s+#define CUBLAS_VER_MINOR (\d+)"
# Declared in cusparse.h for what the library exports as *_bufferSize.
SPARSE_LEFT_OUT = frozenset(
    f"cusparse{letter}{name}_bufferSizeExt" for letter in "SDCZ" for name in (
        "bsric02", "bsrilu02", "bsrsm2", "bsrsv2", "csr2gebsr", "csric02", "csrilu02",
        "gebsr2gebsc", "gebsr2gebsr")) | {"cusparseXgebsr2csr"}  # fmt: skip
SOLVER_TYPES = (CUDA_TYPES, '#include "dropin/cublas/generated/api.h"\n',
                '#include "dropin/cusolver/frame/sparse_types.h"\n\n')  # fmt: skip
SOLVER_STAND_INS = dict.fromkeys(("cuComplex.h", "cublas_v2.h", "cusparse.h", "library_types.h",
                                  "driver_types.h", "inttypes.h", "stdint.h", "stdio.h",
                                  "cuda_runtime.h"),
                                 "")  # fmt: skip
DNN_STAND_INS = dict.fromkeys(("cuda_runtime_api.h", "cuda_runtime.h", "library_types.h"), "")
DNN_UNDECLARED = {"cudnnGetBackdoor": "graph", "cudnnSetBackdoor": "graph",
                  "cudnnSetBackdoorEx": "graph",
                  "cudnnGetRNNDropoutLocationsInternal": "adv"}  # fmt: skip
# The libraries that cuDNN's functions lie in as well, by the headers that declare those.
DNN_PARTS = {"graph": ("graph",), "ops": ("ops",), "cnn": ("cnn",), "adv": ("adv",),
             "ext": ("subquadratic_ops", "gnn_ops")}  # fmt: skip


def dnn_part(name, headers):
    """The functions of one of cuDNN's libraries: the guards of other headers leave those out."""
    others = [each for part in DNN_PARTS.values() for each in part if each not in headers]
    found = tuple(f"cudnn_{each}.h" for each in headers)
    return Library(f"cudnn_{name}", found[0], "cudnn", "nvidia-cudnn-cu13", r"\A()", room="cudnn",
                   api_file="", functions_file=f"{name}_functions.def", more_headers=found[1:],
                   defines=(*(f"CUDNN_{each.upper()}_H_" for each in others), "CUDNNWINAPI=",
                            "CUDNN_DEPRECATED=", "CUDNN_DEPRECATED_ENUM="),
                   undeclared=tuple(key for key, part in DNN_UNDECLARED.items() if part == name),
                   stand_ins=DNN_STAND_INS)  # fmt: skip


LIBRARIES = [
    Library("library", "library_types.h", "cuda|library", "nvidia-cuda-runtime", r"\A()",
            api_file="library_types.h", functions_file="", types=r"(?:cuda|library)\w+"),
    Library("nvml", "nvml.h", "nvml", "nvidia-nvml-dev",
            r"#define NVML_API_VERSION\s+(\d+)", defines=("NVML_NO_UNVERSIONED_FUNC_DEFS",),
            undeclared=("nvmlGetFunctionPointer",), constants=r"NVML_DEVICE_ARCH_\w+",
            structures=r"nvml(?:Memory|Memory_v2|Utilization|PciInfo|ProcessInfo_v1)_t"),
    Library("nvrtc", "nvrtc.h", "nvrtc", "nvidia-cuda-nvrtc", r"\A()",
            left_out=frozenset({"nvrtcGetTypeName"})),
    Library("curand", "curand.h", "curand", "nvidia-curand",
            r"#define CURAND_VER_MAJOR (\d+)\s+#define CURAND_VER_MINOR (\d+)",
            left_out=frozenset({"curandGenerateBinomial", "curandGenerateBinomialMethod"}),
            stand_ins={"cuda_runtime.h": ""}, includes=(CUDA_TYPES,)),
    Library("cublas", "cublas_api.h", "cublas", "nvidia-cublas", BLAS_VERSION,
            more_headers=("cublas.h", "cublasXt.h"),
            # Routines of half numbers are declared for C++ alone.
            defines=("CUBLASAPI=", "__cplusplus=201103L"),
            stand_ins=BLAS_STAND_INS, includes=(CUDA_TYPES,),
            undeclared=("cublasSbdmm", "cublasDbdmm", "cublasCbdmm", "cublasZbdmm",
                        "cublasGetBackdoor", "cublasSetBackdoor", "cublasSetBackdoorEx",
                        "cublasGetEnvironmentMode", "cublasSetEnvironmentMode")),
    Library("cublasLt", "cublasLt.h", "cublasLt", "nvidia-cublas", r"\A()", room="cublas",
            api_file="lt_api.h", functions_file="lt_functions.def",
            defines=("CUBLASAPI=",), stand_ins=BLAS_STAND_INS,
            left_out=frozenset({"cublasLtDisableCpuInstructionsSetMask"}),
            includes=("#include <cstdio>\n\n", '#include "dropin/cublas/generated/api.h"\n\n'),
            constants=r"CUBLASLT_NUMERICAL_IMPL_FLAGS_\w+",
            types=r"cublasLt(?:Order|BatchMode|PointerMode|PointerModeMask|Epilogue"
                  r"|ReductionScheme|MatmulMatrixScale|MatmulBatchInvarianceFlags)_t",
            structures=r"cublasLt\w+"),
    Library("cufft", "cufft.h", "cufft", "nvidia-cufft",
            r"#define CUFFT_VER_MAJOR (\d+)\s+#define CUFFT_VER_MINOR (\d+)",
            more_headers=("cufftXt.h",), defines=("CUFFTAPI=", "CUFFT_NO_INLINE"),
            stand_ins={"cuComplex.h": "", "driver_types.h": "", "library_types.h": "",
                       "cuda_runtime.h": ""},
            includes=('#include "dropin/cufft/frame/descriptor_types.h"\n\n',),
            undeclared=("cufftDebug", "cufftXtMakePlanGuru64", "cufftDescriptionCreate",
                        "cufftDescriptionDestroy", "cufftDescriptionGetTraitInt64",
                        "cufftDescriptionSetTraitInt64", "cufftDeviceCreate",
                        "cufftDeviceDestroy", "cufftDeviceGetDatabaseStr",
                        "cufftDeviceGetDatabaseStrSize",
                        "cufftDeviceGetDeviceFunctionTraitInt64", "cufftDeviceGetDeviceFunctions",
                        "cufftDeviceGetLTOIRSizes", "cufftDeviceGetLTOIRs",
                        "cufftDeviceGetNumDeviceFunctions", "cufftDeviceGetNumLTOIRs",
                        "cufftDeviceGetSemanticVersion", "cufftDeviceGetVersion",
                        "cufftDeviceIsSupported")),
    Library("cufftw", "cufftw.h", "fftw", "nvidia-cufft", r"\A()", room="cufft",
            api_file="fftw_api.h", functions_file="fftw_functions.def",
            defines=("CUFFTAPI=", "_CUFFTAPI(type)=type"),
            stand_ins=dict.fromkeys(("stdio.h", "cuComplex.h", "driver_types.h",
                                     "library_types.h"), ""), includes=("#include <cstdio>\n\n",),
            structures=r"fftwf?_iodim\w*"),
    Library("cusparse", "cusparse.h", "(?:cusparse|bsr[is]|csr[iu]|prune)", "nvidia-cusparse",
            r"#define CUSPARSE_VER_MAJOR (\d+)\s+#define CUSPARSE_VER_MINOR (\d+)",
            # Functions of half numbers are declared for C++ alone.
            defines=("DISABLE_CUSPARSE_DEPRECATED", "CUSPARSE_ENABLE_EXPERIMENTAL_API",
                     "__cplusplus=201103L"),
            stand_ins={**BLAS_STAND_INS, "cuda_runtime_api.h": ""}, left_out=SPARSE_LEFT_OUT,
            types=r"cusparse(?:SpMatStorage|SymmetryType|SpMVAlg)_t",
            includes=("#include <cstdio>\n\n", CUDA_TYPES)),
    Library("cusolver", "cusolverDn.h",
            "(?:cusolver|(?:gesvdj|syevj|csrqr|csrchol|csrlu)Info)", "nvidia-cusolver", r"\A()",
            more_headers=("cusolverSp.h", "cusolverSp_LOWLEVEL_PREVIEW.h", "cusolverRf.h"),
            defines=("DISABLE_CUSOLVER_DEPRECATED",), stand_ins=SOLVER_STAND_INS,
            includes=SOLVER_TYPES),
    Library("cusolverMg", "cusolverMg.h", "(?:cusolverMg|cudaLibMg)", "nvidia-cusolver", r"\A()",
            room="cusolver", api_file="mg_api.h", functions_file="mg_functions.def",
            defines=("DISABLE_CUSOLVER_DEPRECATED",), stand_ins=SOLVER_STAND_INS,
            includes=SOLVER_TYPES),
    Library("cudnn", "cudnn.h", "cudnn", "nvidia-cudnn-cu13", r"\A()",
            stand_ins=DNN_STAND_INS, undeclared=tuple(DNN_UNDECLARED), includes=(CUDA_TYPES,),
            constants=r"CUDNN_(?:\w+_MASK|\w*ALGO\w*COUNT|DIM_MAX)", types=r"cudnn\w+_t",
            structures=r"cudnn\w+"),
    *(dnn_part(each, headers) for each, headers in DNN_PARTS.items()),
    # Without inline functions the header declares the plain names, which all versions share.
    Library("nvjitlink", "nvJitLink.h", "nvJitLink", "nvidia-nvjitlink",
            r"__nvJitLinkCreate_(\d+)_(\d+)", defines=("NVJITLINK_NO_INLINE",),
            left_out=frozenset({"nvJitLinkVersion"})),
    Library("cupti", "cupti_result.h", "(?:cupti|CUpti|CUPTI)", "nvidia-cuda-cupti", r"\A()",
            more_headers=("cupti_activity.h", "cupti_callbacks.h", "cupti_version.h",
                          "cupti_events.h", "cupti_metrics.h", "cupti_pcsampling.h",
                          "cupti_pmsampling.h", "cupti_profiler_host.h",
                          "cupti_profiler_target.h", "cupti_range_profiler.h",
                          "cupti_sass_metrics.h", "Openacc/cupti_openacc.h",
                          "Openmp/cupti_openmp.h"),
            stand_ins=dict.fromkeys(("cuda.h", "builtin_types.h", "cuda_stdint.h", "string.h",
                                     "stdint.h", "stddef.h", "stdbool.h", "generated_nvtx_meta.h",
                                     "cuda_runtime_api.h", "cupti_target.h"), ""),
            includes=('#include "cuda/driver.h"\n\n',
                      "using km::cu::CUcontext, km::cu::CUdevice, km::cu::CUstream, "
                      "km::cu::CUevent, km::cu::CUgraph,\n"
                      "    km::cu::CUgraphExec, km::cu::CUgraphNode;\n\n"),
            left_out=frozenset({"cuptiOpenMpInitialize", "cuptiOpenMpInitialize_v2"}),
            undeclared=("cuptiActivityEnableBufferSummary", "cuptiActivityEnableRawTimestamps",
                        "cuptiActivityEnableRawTimestamps_v2",
                        "cuptiActivityGetNvtxExtPayloadAttr",
                        "cuptiActivityGetNvtxExtPayloadEntryTypeInfo", "cuptiDeviceGetChipName",
                        "cuptiDisableLibcuda", "cuptiEnableCigMode",
                        "cuptiGetGlobalCallbackState", "cuptiGetNumContexts",
                        "cuptiGetRecommendedBufferSize", "cuptiNvtxExtensionInitialize",
                        "cuptiNvtxInitialize", "cuptiNvtxInitialize2", "cuptiOpenMpInitialize",
                        "cuptiOpenMpInitialize_v2", "cuptiStateQuery"),
            types=r"CUpti_(?:ActivityKind|ActivityMemcpyKind|ActivityMemoryKind|ActivityFlag"
                  r"|CallbackDomain|ApiCallbackSite|CallbackIdResource|CallbackIdSync"
                  r"|ExternalCorrelationKind|ActivityOverheadKind|ActivityObjectKind"
                  r"|ActivitySynchronizationType)"),
    # Each function has a second name for profilers, "p" before the first.
    Library("nccl", "nccl.h", "nccl", "nvidia-nccl-cu13",
            r"#define NCCL_MAJOR (\d+)\s+#define NCCL_MINOR (\d+)\s+#define NCCL_PATCH (\d+)",
            stand_ins={"cuda_runtime.h": "", "cuda_fp16.h": "", "stdint.h": "",
                       "limits.h": "#define INT_MIN (-2147483647 - 1)\n"
                                   "#define INT_MAX 2147483647\n"},
            defines=("NCCL_OS_LINUX",), includes=(CUDA_TYPES,),
            # Declared in headers for code of devices.
            undeclared=("ncclCommQueryProperties", "ncclDevCommCreate", "ncclDevCommDestroy",
                        "ncclGetCftDeviceLeInfo", "ncclGetLsaDevicePointer",
                        "ncclGetLsaMultimemDevicePointer", "ncclGetMultimemDeviceLeInfo",
                        "ncclGetMultimemDevicePointer", "ncclGetPeerDeviceLeInfo",
                        "ncclGetPeerDevicePointer", "ncclGinBarrierCreateRequirement",
                        "ncclGinInboxA2ACreateRequirement", "ncclGinOutboxCreateRequirement",
                        "ncclLLA2ACalcSlots", "ncclLLA2ACreateRequirement",
                        "ncclLsaBarrierCreateRequirement", "ncclTeamCft", "ncclTeamCftMultimem",
                        "ncclTeamLsa", "ncclTeamRail", "ncclTeamRankToLsa", "ncclTeamRankToWorld",
                        "ncclTeamWorld"),
            constants=r"NCCL_(?:WIN|SHRINK|SUSPEND|SPLIT|API|VERSION_CODE|UNIQUE_ID)\w*",
            types=r"ncclRedOp_dummy_t",
            structures=r"nccl(?:UniqueId|Config_t|CollConfig_t|SimInfo_t|EncryptionConfig_t"
                       r"|WaitSignalDesc_t)"),
    Library("nvptxcompiler", "nvPTXCompiler.h", "nvPTXCompile", "nvidia-nvptxcompiler",
            r"\A()"),
]  # fmt: skip


def find_header(library):
    """The newest one in the set-up, or in a folder of KM_NVIDIA_INCLUDE; None: there is none."""
    packages = pathlib.Path(os.environ.get("KM_NVRTC") or ROOT / ".deps")
    found = sorted(packages.glob(f"nvidia/cu*/include/{library.header}"))
    folders = filter(None, os.environ.get("KM_NVIDIA_INCLUDE", "").split(":"))
    found += [path for path in (pathlib.Path(each) / library.header for each in folders)
              if path.exists()]  # fmt: skip
    return found[-1] if found else None


def preprocess(library, header, *flags):
    """The text of the library's headers, each by itself: some refuse to be included together. They
    lie beside the stand-ins, so that these are found by includes in quotes, too.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, text in library.stand_ins.items():
            (pathlib.Path(folder) / name).write_text(text)
        for each in header.parent.iterdir():
            if each.name not in library.stand_ins:
                (pathlib.Path(folder) / each.name).symlink_to(each)
        command = ["gcc", "-E", "-P", "-x", "c", *(f"-D{each}" for each in library.defines),
                   *flags, "-I", folder, "-"]  # fmt: skip
        done = [subprocess.run(command, input=f"#include <{each}>\n", text=True, check=True,
                               capture_output=True) for each in library.headers]  # fmt: skip
    return "".join(each.stdout for each in done)


def split(text):
    """The parameters, by commas outside parentheses."""
    found, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            found.append("")
        else:
            found[-1] += char
    return [" ".join(each.split()) for each in found if each.strip() not in ("", "void")]


NOT_NAMES = {"int", "long", "char", "short", "unsigned", "double", "float", "size_t"}


def named(parameter, number):
    """(declaration, name), in our spelling."""
    parameter = re.sub(r"\b(?:struct|enum)\s+", "", parameter)
    callback = re.search(r"\(\*(\w+)\)", parameter)
    if callback:
        return parameter, callback[1]
    is_array = parameter.endswith("]")
    parameter = re.sub(r"\s*\[\w*\]$", "", parameter)
    match = re.match(r"^(.*[\s*])(\w+)$", parameter)
    kind, name = parameter, f"argument_{number}"
    if match and match[2] not in NOT_NAMES:
        kind, name = match[1], match[2]
    kind = re.sub(r"\s*\*\s*", "*", kind).strip() + ("*" if is_array else "")
    return f"{re.sub(r'[*](?=[a-z])', '* ', kind)} {name}", name


PROTOTYPE = re.compile(
    r"\b(const\s+char\s*\*|\w+)\s*\b(%s\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*;"
)  # fmt: skip


@functools.cache
def read(name):
    """(version, preprocessed text, {symbol: (result, parameters)}); None: there is no header."""
    library = next(each for each in LIBRARIES if each.name == name)
    header = find_header(library)
    if header is None:
        return None
    version = ".".join(re.search(library.version, header.read_text(), re.S).groups())
    text = preprocess(library, header)
    pattern = PROTOTYPE.pattern % library.prefix
    found = {
        symbol: ("const char*" if "*" in result else result,
                 [named(each, i) for i, each in enumerate(split(inside))])
        for result, symbol, inside in re.findall(pattern, text)
        if result != "return" and symbol not in library.left_out
    }  # fmt: skip
    return version, text, dict(sorted(found.items()))


NUMBER = r"\d+|0x[0-9a-fA-F]+|\(0x[0-9a-fA-F]+(?:ull)? *<< *\d+\)"


def numbers(library):
    """Lines for macros that stand for numbers."""
    if not library.constants:
        return []
    text = preprocess(library, find_header(library), "-dM")
    found = re.findall(rf"^#define ({library.constants}) ({NUMBER})$", text, re.M)
    return [f"inline constexpr {'uint64_t' if 'ull' in value else 'unsigned'} {name} = {value};\n"
            for name, value in sorted(found)]  # fmt: skip


def enums(text):
    """{name: its enumerators}, by the name that functions use."""
    found = {name: body for body, name in re.findall(
        r"typedef\s+enum\s*\w*\s*\{([^{}]*)\}\s*(\w+)\s*;", text)}  # fmt: skip
    tags = dict(re.findall(r"\benum\s+(\w+)\s*\{([^{}]*)\}\s*;", text))
    for tag, name in re.findall(r"typedef\s+enum\s+(\w+)\s+(\w+)\s*;", text):
        if tag in tags:
            found[name] = tags[tag]
    return found


def aliases(text):
    """{name: the type that it stands for}."""
    found = {name: re.sub(r"\s*\*\s*", "*", " ".join(kind.split())) for kind, name in re.findall(
        r"typedef\s+((?!struct|enum|union)\w[\w ]*?[\s*]\s*)(\w+)\s*;", text)}  # fmt: skip
    names = dict(re.findall(r"typedef\s+enum\s+(\w+)\s*\{[^{}]*\}\s*(\w+)\s*;", text))
    for tag, name in re.findall(r"typedef\s+enum\s+(\w+)\s+(\w+)\s*;", text):
        if names.get(tag, name) != name:
            found[name] = names[tag]
    return found


class Types:
    """The types of a library's preprocessed header, defined in our spelling, each after those that
    it needs. Structures are names alone, but for those that the library's row names.
    """

    def __init__(self, library, text):
        self.library = library
        self.enums = enums(text)
        self.aliases = aliases(text)
        self.handles = {name: f"{const} struct {tag}".strip() for tag, const, name in re.findall(
            r"typedef\s+struct\s+(\w+)\s*(const)?\s*\*\s*(\w+)\s*;", text)}  # fmt: skip
        self.arrays = {name: (kind, count) for kind, name, count in re.findall(
            r"typedef\s+([\w ]+?)\s+(\w+)\[(\d+)\]\s*;", text)}  # fmt: skip
        self.structures = {name: body for body, name in re.findall(
            r"typedef\s+struct\s*\w*\s*\{([^{}]*)\}\s*(\w+)\s*;", text)
            if library.structures and re.fullmatch(library.structures, name)}  # fmt: skip
        self.callbacks = {name: (result, parameters) for result, name, parameters in re.findall(
            r"typedef\s+(\w+)\s*\(\s*\*\s*(\w+)\s*\)\s*\(([^()]*)\)\s*;", text)}  # fmt: skip
        self.lines, self.done = [], set()

    def names(self):
        """The types that the library's row asks for, whether functions have them or not."""
        known = {**self.enums, **self.aliases}
        wanted = self.library.types
        return [name for name in known if wanted and re.fullmatch(wanted, name)]

    def define(self, name):
        if name in self.done or not re.match(self.library.prefix, name):
            return
        self.done.add(name)
        self.lines.append(self.definition(name))

    def definition(self, name):
        if name in self.enums:
            values = (" ".join(each.split()) for each in self.enums[name].split(","))
            body = "".join(f"  {each},\n" for each in values if each)
            return f"enum {name} : int32_t {{\n{body}}};\n"
        if name in self.handles:
            return f"typedef {self.handles[name]}* {name};\n"
        if name in self.arrays:
            return f"typedef {self.arrays[name][0]} {name}[{self.arrays[name][1]}];\n"
        if name in self.callbacks:
            result, inside = self.callbacks[name]
            for word in re.findall(r"\w+", inside):
                self.define(word)
            parameters = ", ".join(named(each, i)[0] for i, each in enumerate(split(inside)))
            return f"typedef {result} (*{name})({parameters});\n"
        if name in self.aliases:
            self.define(self.aliases[name].rstrip("*"))
            return f"typedef {self.aliases[name]} {name};\n"
        if name in self.structures:
            return f"struct {name} {{\n{self.members(name)}}};\n"
        return f"struct {name};\n"

    def members(self, name):
        lines = [" ".join(each.split()) for each in self.structures[name].split(";")]
        for word in re.findall(r"\w+", self.structures[name]):
            self.define(word)
        return "".join(f"  {each};\n" for each in lines if each)


def banner(library):
    version = read(library.name)[0]
    return f"// Generated by `make gen` from {library.header}{' ' if version else ''}{version}.\n"


def api_text(library):
    _, text, functions = read(library.name)
    words = " ".join(f"{result} {' '.join(d for d, _ in parameters)}"
                     for result, parameters in functions.values())  # fmt: skip
    types = Types(library, text)
    used = set(re.findall(rf"\b(?:{library.prefix})\w+", words)).union(types.names())
    for name in sorted(used):
        types.define(name)
    lines = [banner(library), "// clang-format off\n", "#pragma once\n\n",
             "#include <cstddef>\n#include <cstdint>\n\n", *library.includes, 'extern "C" {\n',
             *numbers(library), *types.lines]  # fmt: skip
    lines += [f"{result} {symbol}({', '.join(d for d, _ in parameters)});\n"
              for symbol, (result, parameters) in functions.items()]  # fmt: skip
    return "".join([*lines, "}\n"])


def row_kind(symbol, result, status, found):
    """Which macro a function's row has: "", "TEXT_" if it returns no status, "OLD_" if there is a
    newer form of it, which does.
    """
    if result == status:
        return ""
    return "OLD_" if found.get(f"{symbol}_v2", ("",))[0] == status else "TEXT_"


def functions_text(library):
    name = library.name.upper()
    found = dict(read(library.name)[2])
    status = collections.Counter(result for result, _ in found.values()).most_common(1)[0][0]
    found.update({symbol: (status, []) for symbol in library.undeclared})
    lines = [banner(library), f"// KM_{name}_FUNCTION(symbol, status, parameters, arguments); "
             "KM_*_TEXT_FUNCTION: those that give something else\n"]  # fmt: skip
    kinds = {symbol: row_kind(symbol, result, status, found)
             for symbol, (result, _) in found.items()}  # fmt: skip
    if "OLD_" in kinds.values():
        lines.append("// KM_*_OLD_FUNCTION: of these, those that symbol##_v2 has taken over from\n")
    for symbol, (result, parameters) in sorted(found.items()):
        declared = ", ".join(each for each, _ in parameters)
        passed = ", ".join(name for _, name in parameters)
        macro = f"KM_{name}_{kinds[symbol]}FUNCTION"
        lines.append(f"{macro}({symbol}, {result}, ({declared}), ({passed}))\n")
    return "".join(lines)


def kept(make, library, path):
    """The table; without a header the committed one."""
    return make(library) if find_header(library) else (ROOT / path).read_text()


def outputs():
    found = {}
    for library in LIBRARIES:
        for name, make in ((library.api_file, api_text), (library.functions_file, functions_text)):
            if not name:
                continue
            path = library.path(name)
            found[path] = lambda tool, m=make, each=library, p=path: kept(m, each, p)
    return found
