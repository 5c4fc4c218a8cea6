"""Names, prototypes and constants of the CUDA runtime API, from the public headers of CUDA 13.

The headers declare one version only. The lists below have the functions that CUDA 12 has in
addition or with other parameters; they come from its headers and were compared with the names that
its library exports.
"""

import functools
import pathlib
import re
import subprocess
import tempfile

from cuda.cuda_driver import include_folder, parameters

FOLDER = "dropin/cudart/generated"
RELEASE_12 = "12090"  # CUDART_VERSION of the last CUDA 12

# Functions that programs built by nvcc and clang call; no header of the package declares it.
COMPILER = {
    "__cudaGetKernel": "cudaKernel_t* kernel, const void* symbol",
    "__cudaInitModule": None,
    "__cudaLaunchKernel": "cudaKernel_t kernel, dim3 grid, dim3 block, void** args, size_t shared, "
    "cudaStream_t stream",
    "__cudaLaunchKernel_ptsz": "cudaKernel_t kernel, dim3 grid, dim3 block, void** args, "
    "size_t shared, cudaStream_t stream",
    "__cudaPopCallConfiguration": "dim3* grid, dim3* block, size_t* shared, void* stream",
    "__cudaPushCallConfiguration": None,
    "__cudaRegisterFatBinary": None,
    "__cudaRegisterFatBinaryEnd": None,
    "__cudaRegisterFunction": None,
    "__cudaRegisterHostVar": None,
    "__cudaRegisterManagedVar": None,
    "__cudaRegisterUnifiedTable": None,
    "__cudaRegisterVar": None,
    "__cudaUnregisterFatBinary": None,
}

# Functions whose headers require those of OpenGL, EGL and VDPAU, or are in no package: their
# parameters are ignored.
INTEROP = [
    "cudaEGLStreamConsumerAcquireFrame", "cudaEGLStreamConsumerConnect",
    "cudaEGLStreamConsumerConnectWithFlags", "cudaEGLStreamConsumerDisconnect",
    "cudaEGLStreamConsumerReleaseFrame", "cudaEGLStreamProducerConnect",
    "cudaEGLStreamProducerDisconnect", "cudaEGLStreamProducerPresentFrame",
    "cudaEGLStreamProducerReturnFrame", "cudaEventCreateFromEGLSync", "cudaGLGetDevices",
    "cudaGLMapBufferObject", "cudaGLMapBufferObjectAsync", "cudaGLRegisterBufferObject",
    "cudaGLSetBufferObjectMapFlags", "cudaGLSetGLDevice", "cudaGLUnmapBufferObject",
    "cudaGLUnmapBufferObjectAsync", "cudaGLUnregisterBufferObject", "cudaGraphicsEGLRegisterImage",
    "cudaGraphicsGLRegisterBuffer", "cudaGraphicsGLRegisterImage",
    "cudaGraphicsResourceGetMappedEglFrame", "cudaGraphicsVDPAURegisterOutputSurface",
    "cudaGraphicsVDPAURegisterVideoSurface", "cudaVDPAUGetDevice", "cudaVDPAUSetVDPAUDevice",
]  # fmt: skip

PROFILER = {"cudaProfilerStart": "void", "cudaProfilerStop": "void"}

# Names of the library of CUDA 13 that no header declares.
UNDECLARED_13 = [
    "__cudaGetProcAddress", "cudaSubgridCreate", "cudaSubgridWorkerGridCreate",
    "cudaSubgridWorksetCreate",
]  # fmt: skip

# Functions of CUDA 13 that the library of CUDA 12 lacks.
NOT_IN_12 = {
    "cudaDevResourceGenerateDesc", "cudaDevSmResourceSplit", "cudaDevSmResourceSplitByCount",
    "cudaDeviceGetDevResource", "cudaDeviceGetExecutionCtx", "cudaDeviceGetHostAtomicCapabilities",
    "cudaDeviceGetP2PAtomicCapabilities", "cudaExecutionCtxDestroy",
    "cudaExecutionCtxGetDevResource", "cudaExecutionCtxGetDevice", "cudaExecutionCtxGetId",
    "cudaExecutionCtxRecordEvent", "cudaExecutionCtxStreamCreate", "cudaExecutionCtxSynchronize",
    "cudaExecutionCtxWaitEvent", "cudaFuncGetParamCount", "cudaGraphConditionalHandleCreate_v2",
    "cudaGraphExecGetId", "cudaGraphGetId", "cudaGraphNodeGetContainingGraph",
    "cudaGraphNodeGetLocalId", "cudaGraphNodeGetParams", "cudaGraphNodeGetToolsId",
    "cudaGreenCtxCreate", "cudaLaunchHostFunc_v2", "cudaLogsCurrent", "cudaLogsDumpToFile",
    "cudaLogsDumpToMemory", "cudaLogsRegisterCallback", "cudaLogsUnregisterCallback",
    "cudaMemDiscardAndPrefetchBatchAsync", "cudaMemDiscardBatchAsync", "cudaMemGetDefaultMemPool",
    "cudaMemGetLocationInfo", "cudaMemGetMemPool", "cudaMemPrefetchBatchAsync", "cudaMemSetMemPool",
    "cudaMemcpy3DWithAttributesAsync", "cudaMemcpyWithAttributesAsync",
    "cudaStreamBeginRecaptureToGraph", "cudaStreamGetDevResource",
}  # fmt: skip

# Functions of CUDA 12 that CUDA 13 lacks, or has with other parameters.
CUDA_12 = {
    "cudaEventElapsedTime_v2": "float* ms, cudaEvent_t start, cudaEvent_t end",
    "cudaGetDeviceProperties": "void* prop, int device",
    "cudaGetDeviceProperties_v2": "void* prop, int device",
    "cudaGraphAddDependencies": "cudaGraph_t graph, const cudaGraphNode_t* from, "
    "const cudaGraphNode_t* to, size_t count",
    "cudaGraphAddDependencies_v2": "cudaGraph_t graph, const cudaGraphNode_t* from, "
    "const cudaGraphNode_t* to, const cudaGraphEdgeData* edges, size_t count",
    "cudaGraphAddNode": "cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, "
    "size_t count, cudaGraphNodeParams* params",
    "cudaGraphAddNode_v2": "cudaGraphNode_t* node, cudaGraph_t graph, "
    "const cudaGraphNode_t* after, const cudaGraphEdgeData* edges, size_t count, "
    "cudaGraphNodeParams* params",
    "cudaGraphGetEdges": "cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, "
    "size_t* count",
    "cudaGraphGetEdges_v2": "cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, "
    "cudaGraphEdgeData* edges, size_t* count",
    "cudaGraphKernelNodeCopyAttributes": "cudaGraphNode_t source, cudaGraphNode_t target",
    "cudaGraphNodeGetDependencies": "cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count",
    "cudaGraphNodeGetDependencies_v2": "cudaGraphNode_t node, cudaGraphNode_t* nodes, "
    "cudaGraphEdgeData* edges, size_t* count",
    "cudaGraphNodeGetDependentNodes": "cudaGraphNode_t node, cudaGraphNode_t* nodes, "
    "size_t* count",
    "cudaGraphNodeGetDependentNodes_v2": "cudaGraphNode_t node, cudaGraphNode_t* nodes, "
    "cudaGraphEdgeData* edges, size_t* count",
    "cudaGraphRemoveDependencies": "cudaGraph_t graph, const cudaGraphNode_t* from, "
    "const cudaGraphNode_t* to, size_t count",
    "cudaGraphRemoveDependencies_v2": "cudaGraph_t graph, const cudaGraphNode_t* from, "
    "const cudaGraphNode_t* to, const cudaGraphEdgeData* edges, size_t count",
    "cudaLaunchCooperativeKernelMultiDevice": "void* launches, unsigned int count, "
    "unsigned int flags",
    "cudaMemAdvise": "const void* address, size_t count, cudaMemoryAdvise advice, int device",
    "cudaMemAdvise_v2": "const void* address, size_t count, cudaMemoryAdvise advice, "
    "cudaMemLocation location",
    "cudaMemPrefetchAsync": "const void* address, size_t count, int device, cudaStream_t stream",
    "cudaMemPrefetchAsync_v2": "const void* address, size_t count, cudaMemLocation location, "
    "unsigned int flags, cudaStream_t stream",
    "cudaMemcpy3DBatchAsync": "size_t count, cudaMemcpy3DBatchOp* ops, size_t* failed, "
    "unsigned long long flags, cudaStream_t stream",
    "cudaMemcpyBatchAsync": "void** dsts, void** srcs, size_t* sizes, size_t count, "
    "cudaMemcpyAttributes* attributes, size_t* indices, size_t numAttributes, size_t* failed, "
    "cudaStream_t stream",
    "cudaSetDoubleForDevice": "double* value",
    "cudaSetDoubleForHost": "double* value",
    "cudaSignalExternalSemaphoresAsync_v2": "const cudaExternalSemaphore_t* semaphores, "
    "const cudaExternalSemaphoreSignalParams* params, unsigned int count, cudaStream_t stream",
    "cudaStreamGetCaptureInfo": "cudaStream_t stream, cudaStreamCaptureStatus* status, "
    "unsigned long long* id",
    "cudaStreamGetCaptureInfo_v2": "cudaStream_t stream, cudaStreamCaptureStatus* status, "
    "unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** nodes, size_t* count",
    "cudaStreamGetCaptureInfo_v3": "cudaStream_t stream, cudaStreamCaptureStatus* status, "
    "unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** nodes, "
    "const cudaGraphEdgeData** edges, size_t* count",
    "cudaStreamUpdateCaptureDependencies": "cudaStream_t stream, cudaGraphNode_t* nodes, "
    "size_t count, unsigned int flags",
    "cudaStreamUpdateCaptureDependencies_v2": "cudaStream_t stream, cudaGraphNode_t* nodes, "
    "const cudaGraphEdgeData* edges, size_t count, unsigned int flags",
    "cudaThreadExit": "void",
    "cudaThreadGetCacheConfig": "cudaFuncCache* config",
    "cudaThreadGetLimit": "size_t* value, cudaLimit limit",
    "cudaThreadSetCacheConfig": "cudaFuncCache config",
    "cudaThreadSetLimit": "cudaLimit limit, size_t value",
    "cudaThreadSynchronize": "void",
    "cudaWaitExternalSemaphoresAsync_v2": "const cudaExternalSemaphore_t* semaphores, "
    "const cudaExternalSemaphoreWaitParams* params, unsigned int count, cudaStream_t stream",
}
PER_THREAD_12 = {
    "cudaMemPrefetchAsync_v2", "cudaSignalExternalSemaphoresAsync_v2",
    "cudaStreamGetCaptureInfo_v2", "cudaStreamGetCaptureInfo_v3",
    "cudaStreamUpdateCaptureDependencies_v2", "cudaWaitExternalSemaphoresAsync_v2",
}  # fmt: skip

# Functions that do not return a cudaError_t.
OTHER_RESULTS = {
    "cudaCreateChannelDesc": "cudaChannelFormatDesc",
    "cudaGetErrorName": "const char*",
    "cudaGetErrorString": "const char*",
}

# Stubs for headers of the compiler, which are not in the package.
COMPILER_HEADERS = {
    "crt/host_defines.h": "#define __host__\n#define __device__\n#define __device_builtin__\n"
    "#define __builtin_align__(n)\n#define CUDARTAPI\n#define CUDARTAPI_CDECL\n#define CUDART_CB\n"
    "#define __cudart_builtin__\n#define __device_builtin_texture_type__\n"
    "#define __device_builtin_surface_type__\n#define __specialization_static\n"
    "#define __align__(n)\n",
    "crt/host_config.h": "",
}


def preprocess(*flags):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in COMPILER_HEADERS.items():
            header = pathlib.Path(folder) / name
            header.parent.mkdir(exist_ok=True)
            header.write_text(content)
        include = ["-I", folder, "-I", str(include_folder())]
        command = ["gcc", "-E", "-P", "-x", "c", *include, *flags, "-"]
        text = "#include <cuda_runtime_api.h>\n"
        done = subprocess.run(command, input=text, text=True, check=True, capture_output=True)
    return re.sub(r"__attribute__\s*\(\(.*?\)\)", "", done.stdout)


PROTOTYPE = re.compile(r"\bextern\s+([\w ]+?[\s*]+)(cuda\w+)\s*\(([^()]*)\)\s*;")


def declared(text):
    """{symbol: text of its parameters}"""
    return {
        name: " ".join(re.sub(r"\b(?:enum|struct)\s+", "", inside).split())
        for _, name, inside in PROTOTYPE.findall(text)
    }


@functools.cache
def read():
    text = preprocess()
    version = re.search(
        r"#define CUDART_VERSION\s+(\d+)", (include_folder() / "cuda_runtime_api.h").read_text()
    ).group(1)
    suffixed = preprocess("-DCUDA_API_PER_THREAD_DEFAULT_STREAM")
    return version, text, declared(text), declared(suffixed)


def per_thread(functions, suffixed):
    """The variants for the per-thread default stream."""
    found = {}
    for name in suffixed:
        match = re.fullmatch(r"(cuda\w+?)(_pt[ds][sz])", name)
        if match and match[1] in functions:
            found[name] = functions[match[1]]
    return found


@functools.cache
def both():
    """({symbol: parameters} of CUDA 12, the same of CUDA 13)"""
    _, _, functions, suffixed = read()
    thirteen = {**functions, **PROFILER}
    twelve = {k: v for k, v in thirteen.items() if k not in NOT_IN_12}
    twelve.update(CUDA_12)
    twins13 = per_thread(thirteen, suffixed)
    names12 = {name for name in suffixed if re.sub(r"_pt[ds][sz]$", "", name) not in NOT_IN_12}
    names12 |= {f"{name}_ptsz" for name in PER_THREAD_12}
    twins12 = per_thread(twelve, names12)
    return {**twelve, **twins12}, {**thirteen, **twins13}


def banner(note=""):
    text = f"// Generated by `make gen` from the public headers of CUDA {read()[0]}.\n"
    return text + (f"// {note}\n" if note else "")


def prototype(name, inside):
    result = OTHER_RESULTS.get(name, "cudaError_t")
    return f"{result} {name}({', '.join(parameters(inside))});\n"


def names(inside):
    parts = [re.sub(r"\[\w*\]$", "", part.strip()) for part in inside.split(",")]
    return [re.search(r"\w+$", part)[0] for part in parts if part not in ("", "void")]


def select(which):
    """Functions that both libraries have with the same parameters, or that only one of them has."""
    twelve, thirteen = both()
    same = {k: v for k, v in twelve.items() if parameters(thirteen.get(k, "?")) == parameters(v)}
    if which == "common":
        return same
    have = twelve if which == "12" else thirteen
    return {k: v for k, v in have.items() if k not in same}


def prototypes_text(which):
    lines = [banner(), "// clang-format off\n"]
    found = dict(select(which))
    if which == "common":
        found.update({k: v for k, v in COMPILER.items() if v is not None})
    lines += [prototype(name, inside) for name, inside in sorted(found.items())]
    return "".join(lines)


def twin(name, inside):
    """The variant X_ptsz, which calls X with the stream that null means, if the parameters show
    which.
    """
    kinds, given = parameters(inside), names(inside)
    if "cudaStream_t" not in kinds or not name.endswith("_ptsz"):
        return ""
    passed = [
        f"per_thread({n})" if kind == "cudaStream_t" else n for kind, n in zip(kinds, given)
    ]
    arguments = ", ".join(f"{kind} {n}" for kind, n in zip(kinds, given))
    return f"cudaError_t {name}({arguments}) {{ return {name[:-5]}({', '.join(passed)}); }}\n"


def twins_text(which):
    lines = [banner(), "// clang-format off\n"]
    lines += [twin(name, inside) for name, inside in sorted(select(which).items())]
    return "".join(lines)


def functions_text(major):
    found = set(both()[0 if major == 12 else 1]) | set(COMPILER) | set(INTEROP)
    if major == 13:
        found |= set(UNDECLARED_13)
    lines = [banner("KM_CUDART_FUNCTION(symbol)")]
    return "".join(lines + [f"KM_CUDART_FUNCTION({name})\n" for name in sorted(found)])


def enums_text():
    lines = [banner(), "// clang-format off\n"]
    for name, body in re.findall(r"enum\s+(cuda\w+)\s*\{([^{}]*)\}", read()[1]):
        lines.append(f"using {name} = int32_t;\nenum : int32_t {{\n")
        values = (" ".join(each.split()) for each in body.split(","))
        lines += [f"  {each},\n" for each in values if each]
        lines.append("};\n")
    for name, body, alias in re.findall(
        r"typedef enum\s*(\w*)\s*\{([^{}]*)\}\s*(cuda\w+);", read()[1]
    ):
        if not name.startswith("cuda"):
            lines.append(f"using {alias} = int32_t;\nenum : int32_t {{\n")
            lines += [f"  {' '.join(v.split())},\n" for v in body.split(",") if v.strip()]
            lines.append("};\n")
    return "".join(lines)


def errors_text():
    body = re.search(r"enum\s+cudaError\s*\{([^{}]*)\}", read()[1]).group(1)
    found = re.findall(r"(cuda\w+)\s*=\s*(\d+)", body)
    lines = [banner("KM_CUDART_ERROR(name, number)")]
    return "".join(lines + [f"KM_CUDART_ERROR({name}, {number})\n" for name, number in found])


def versions_text():
    return banner() + (
        f"inline constexpr int kVersion12 = {RELEASE_12}, kVersion13 = {read()[0]};\n"
    )


def outputs():
    return {
        f"{FOLDER}/prototypes.h": lambda tool: prototypes_text("common"),
        f"{FOLDER}/prototypes_12.h": lambda tool: prototypes_text("12"),
        f"{FOLDER}/prototypes_13.h": lambda tool: prototypes_text("13"),
        f"{FOLDER}/per_thread.inc": lambda tool: twins_text("common"),
        f"{FOLDER}/per_thread_12.inc": lambda tool: twins_text("12"),
        f"{FOLDER}/per_thread_13.inc": lambda tool: twins_text("13"),
        f"{FOLDER}/functions_12.def": lambda tool: functions_text(12),
        f"{FOLDER}/functions_13.def": lambda tool: functions_text(13),
        f"{FOLDER}/enums.h": lambda tool: enums_text(),
        f"{FOLDER}/errors.def": lambda tool: errors_text(),
        f"{FOLDER}/versions.h": lambda tool: versions_text(),
    }
