"""tests/fuzz_api/generated/library_calls.inc: a table of the functions of the CUDA libraries.

Names and parameters come from the preprocessed sources that export them; kinds are those of
fuzz_calls. Calls pass machine words, so that the program needs none of the libraries' types.
"""

import functools
import re
import subprocess

from c import fuzz_calls
from cuda import cuda_driver

SOURCES = [
    "dropin/cublas/api/*_api.cpp", "dropin/cublas/api_lt/*_api.cpp", "dropin/curand/api/*_api.cpp",
    "dropin/cufft/api/*_api.cpp",
    "dropin/cusparse/api/*_api.cpp",
    "dropin/cudnn/api/*_api.cpp",
]  # fmt: skip
HANDLES = {
    "cublasHandle_t": "k_cublas", "cublasLtHandle_t": "k_cublasLt",
    "cublasXtHandle_t": "k_cublasXt",
    "cublasLtMatrixLayout_t": "k_layout", "cublasLtMatmulDesc_t": "k_matmul",
    "cublasLtMatrixTransformDesc_t": "k_transform", "cublasLtMatmulPreference_t": "k_preference",
    "cublasLtEmulationDesc_t": "k_emulation", "cudaStream_t": "k_stream",
    "curandGenerator_t": "k_curand",
    "curandDiscreteDistribution_t": "k_distribution", "graph": "k_graph",
    "cufftHandle": "k_cufft", "cudaLibXtDesc*": "k_cufftArray",
    "cusparseHandle_t": "k_cusparse", "cusparseMatDescr_t": "k_sparse_settings",
    **{f"cusparse{const}{name}Descr_t": f"k_sparse_{name}" for const in ("", "Const")
       for name in ("SpMat", "DnMat", "SpVec", "DnVec")},
    **{f"cusparse{name}Descr_t": f"k_sparse_{name}"
       for name in ("SpSV", "SpSM", "SpGEMM", "SpGEAM", "SpMV")},
    **{f"{name}Info_t": f"k_{name}"
       for name in ("csrilu02", "csric02", "bsrilu02", "bsric02", "bsrsv2", "bsrsm2", "csru2csr",
                    "prune", "cusparseColor")},
    "cudnnHandle_t": "k_cudnn", "cudnnTensorDescriptor_t": "k_tensor",
    "cudnnFilterDescriptor_t": "k_filter", "cudnnConvolutionDescriptor_t": "k_convolution",
    "cudnnPoolingDescriptor_t": "k_pooling", "cudnnActivationDescriptor_t": "k_activation",
    "cudnnLRNDescriptor_t": "k_lrn", "cudnnOpTensorDescriptor_t": "k_op_tensor",
    "cudnnReduceTensorDescriptor_t": "k_reduce", "cudnnDropoutDescriptor_t": "k_dropout",
    "cudnnSpatialTransformerDescriptor_t": "k_spatial",
    "cudnnTensorTransformDescriptor_t": "k_tensor_transform",
    "cudnnCTCLossDescriptor_t": "k_ctc", "cudnnRNNDescriptor_t": "k_rnn",
    "cudnnRNNDataDescriptor_t": "k_rnn_data", "cudnnAttnDescriptor_t": "k_attention",
    "cudnnSeqDataDescriptor_t": "k_sequences", "cudnnBackendDescriptor_t": "k_backend",
    "cusolverDnHandle_t": "k_solver", "cusolverSpHandle_t": "k_sparse_solver",
    "cusolverRfHandle_t": "k_refactorization", "cusolverDnParams_t": "k_solver_params",
    "cusolverDnIRSParams_t": "k_refinement", "cusolverDnIRSInfos_t": "k_refinement_infos",
    "syevjInfo_t": "k_syevj", "gesvdjInfo_t": "k_gesvdj", "csrqrInfo_t": "k_sparse_qr",
    "csrqrInfoHost_t": "k_host_qr", "csrcholInfo_t": "k_sparse_cholesky",
    "csrcholInfoHost_t": "k_host_cholesky", "csrluInfoHost_t": "k_host_lu",
}  # fmt: skip
ENUMS = {  # valid values of enumerations, and the types of the libraries that have them
    "Operation": ([0, 1, 2], r"cublasOperation_t|cusparseOperation_t"),
    "Order": ([1, 2], r"cusparse(Order|Csr2CscAlg)_t"),
    "IndexType": ([2, 2, 2, 3], r"cusparseIndexType_t|IndexType"),
    "Choice": ([0, 1], r"cublas(FillMode|DiagType|SideMode|PointerMode|AtomicsMode)_t"
               r"|cublasXtPinnedMemMode_t"),
    "DataType": ([0, 1, 2, 3, 4, 5, 6, 8, 10, 14, 15, 28, 29], r"cudaDataType(_t)?"),
    "Bit": ([0, 1], r"cusparse(PointerMode|Action|FillMode|DiagType|IndexBase|Direction"
            r"|SolvePolicy)_t|IndexBase"),
    "Compute": ([64, 65, 68, 69, 70, 72, 74, 77], r"cublasComputeType_t"),
    "DnnType": ([0, 1, 2, 3, 4, 6, 9, 10, 11, 12, 13, 22], r"cudnnDataType_t"),
    "DnnAttribute": ([0, 1, 9, *range(100, 107), 200, 201, 202, 300, 400, 401, 402, 700, 702, 703,
                      704, 705, 750, 751, 752, 753, 800, 801, *range(900, 911), 1000, 1001, 1003,
                      1300, 1301, 1500, 1520, 1521, 1522, 1523, 1600, 1610, 1611, 1612],
                     r"cudnnBackendAttributeName_t"),
    "DnnDescriptor": ([0, 1, 2, 3, 4, 5, 10, 13, 15, 16, 17, 18, 19, 21, 22, 29, 41],
                      r"cudnnBackendDescriptorType_t"),
    "DnnAttributeType": ([0, 1, 2, 3, 3, 4, 5, 6, 14, 15, 15, 18], r"cudnnBackendAttributeType_t"),
    "DnnSmall": ([0, 0, 0, 0, 1, 1, 1, 2, 3, 4, 5, 6], r"cudnn\w+_t"),
    "EigenRange": ([1001, 1002, 1003], r"cusolverEigRange_t"),
    "EigenVectors": ([10, 11, 12], r"cusolverEigComp_t"),
    "Refinement": ([1100, 1101, 1104, 1106], r"cusolverIRSRefinement_t"),
    "Precision": ([1201, 1203, 1204, 1213, 1214], r"cusolverPrecType_t"),
    "Vectors": ([65, 83, 79, 78], r"signed char"),
    "Small": ([0, 1, 2, 3], r"(cublas|cuda|library|cusparse|cusolver)\w+|curandMethod_t"),
    "Generator": ([100, 101, 121, 141, 142, 161, 200, 201, 202, 203, 204],
                  r"curandRngType_t"),
    "Ordering": ([100, 101, 102, 103, 104, 201], r"curandOrdering_t"),
    "FftType": ([0x29, 0x2a, 0x2c, 0x69, 0x6a, 0x6c], r"cufftType"),
    "FftChoice": ([0, 1, 2, 3, 4, 5, 6, 7], r"cufft\w+"),
    "FftDirection": ([-1, 1], r""),
    "Directions": ([100, 101, 102, 103, 104, 105], r"curandDirectionVectorSet_t"),
}  # fmt: skip
# (type, name, kind): the first rule that matches both applies.
SOLVER_RULES = [  # for cuSOLVER, before the others
    (r"int64_t\*|int\*", r"\w*[lL]work|meig64|meig|h_meig|iter|niters|maxiters|\w*_niters"
     r"|singularity|rankA|position|num_eigs|issym|numnz|version|value|executed_sweeps"
     r"|mantissa\w*|nnz[LUM]\w*|h_nnz\w*", "output(64, -1)"),
    (r"size_t\*|double\*", r"\w*Bytes\w*|lwork_bytes|residual|h_err_sigma|zero|boost",
     "output(64, -1)"),
    (r"cusolver\w+\*|cuda\w+\*", r"\w+", "output(64, -1)"),
    (r"[\w ]+\*+", r"\w+", "address()"),
    (r"int|int64_t", r"ld\w*", "number(kElementSize)"),
    (r"int|size_t", r"[lL]work\w*|workspaceInBytes\w*", "number(kSize)"),
    (r"int|int64_t", r"n|m|M|N|k|K|k[12]|nrhs|il|iu|rank|nnz\w*|batchSize", "number(kDimension)"),
]  # fmt: skip
RULES = [
    (r"FILE\*", r".*", None),
    (r"void\*\*", r"memory", "out_address()"),
    (r"cublasLogCallback", r".*", "callback(kLog)"),
    (r"cublasLtLoggerCallback_t", r".*", "callback(kLog)"),
    (r"const char\*", r".*", "text(kWord, -1)"),
    (r"(int|long long)\*", r"n|inembed|onembed|whichGPUs", "input(kSizes, 64, -1)"),
    (r"void\*\*", r"workArea|callback_routine|caller_info", "input(kScalar, 64, -1)"),
    (r"size_t\*|(long long|int)\*", r"workSize|workArea|returnPtrValue", "output(64, -1)"),
    (r"int", r"rank", "enumerator(kEnum_Small)"),
    (r"int", r"direction", "enumerator(kEnum_FftDirection)"),
    (r"int", r"n[xyz]", "number(kDimension)"),
    (r"int|long long", r"[io]stride", "number(kIndex)"),
    (r"int|long long", r"[io]dist", "number(kDimension)"),
    (r"const cublasLtMatmulAlgo_t\*|cublasLtMatmulAlgo_t\*", r".*", "input(kAlgorithm, 64, -1)"),
    (r"cublasLtMatmulHeuristicResult_t\*", r".*", "output(512, -1)"),
    (r"(const )?int\*", r"devices", "input(kDevices, 64, -1)"),
    (r"const (int|int64_t|cublasOperation_t)\*", r"m|n|k|ld[abc]|trans[ab]|group_size",
     "input(kNumbers, 64, -1)"),
    (r"(const )?[\w<>]+\*", r"alpha|beta|c|s|param|a|b|d1|d2|x1|y1", "input(kScalar, 64, -1)"),
    (r"const void\*", r"value", "input(kScalar, 64, -1)"),
    (r"[\w<>]+\*\*?", r"result|info|value|written|returned|version|boards|count|block_dim|mode"
     r"|capacity|vectors|constants|ids|stream|callback|pointer", "output(64, -1)"),
    (r"(unsigned|unsigned long long|curandDirectionVectors(32|64)_t)\*\*", r".*",
     "output(64, -1)"),
    (r"cudnnCallback_t", r".*", "callback(kLog)"),
    (r"(const )?void\*", r"alpha\w*|beta\w*|valuePtr|paddingFill", "input(kScalar, 64, -1)"),
    (r"(const )?(int|int32_t|uint32_t)\*", r"dimA|strideA|filterDimA|padA|dilationA|windowDimA"
     r"|paddingA|filterStrideA|seqLengthArray|padBeforeA|padAfterA|foldA",
     "input(kNumbers, 64, -1)"),
    (r"const void\*", r"arrayOfElements", "input(kNumbers, 64, -1)"),
    (r"const (int|int32_t)\*", r"devSeqLengths\w*", "address()"),
    (r"const cudnnSeqDataAxis_t\*", r"axes", "input(kAxes, 64, -1)"),
    (r"const int\*", r"(lo|hi)WinIdx", "input(kNumbers, 64, -1)"),
    (r"(int|int32_t|size_t|float|double|unsigned|unsigned long long|int64_t|cudnn\w+)\*\*?"
     r"|void\*\*|char\*", r".*", "output(512, -1)"),
    (r".*\*", r".*", "address()"),
    (r"float", r".*", "real(4)"),
    (r"double", r".*", "real(8)"),
    (r"int", r"set", "number(kAnyNumber)"),
    (r"int", r"groupCnt", "enumerator(kEnum_Bit)"),
    (r".*", r"ordering", "enumerator(kEnum_Ordering)"),
    (r".*", r"ld[abc]|lda_inv|leading|elemSize|element_bytes", "number(kElementSize)"),
    (r".*", r"inc[xy]", "number(kIndex)"),
    (r".*", r"stride\w*", "number(kOffset)"),
    (r".*", r"m|rows|cols|columns|k|kl|ku|nrhs", "number(kDimension)"),
    (r"int|int64_t|size_t|unsigned", r"n|batch\w*|group_count|requested|count|id",
     "number(kCount)"),
    (r".*", r"size_bytes", "number(kSize)"),
    (r"int|unsigned|size_t|(u?int(32|64)_t)|(unsigned )?long long", r".*", "number(kAnyNumber)"),
]  # fmt: skip
SPARSE_RULES = [  # those of cuSPARSE, which come first for its functions
    (r"cusparseLoggerCallback_t", r".*", "callback(kSparseLog)"),
    (r"(const )?[\w<>]+\*", r"alpha|beta|threshold|limit|fraction|value", "input(kScalar, 64, -1)"),
    (r"void\*", r"data", "input(kNumbers, 64, -1)"),
    (r"const cusparseSpMatPointers_t\*", r".*", "input(kNumbers, 128, -1)"),
    (r"void\*", r"(external)?[bB]uffer\d?|", "address()"),
    (r"(const )?void\*\*|(size_t|int64_t|IndexType|cusparse\w+|cudaDataType)\*", r".*",
     "output(128, -1)"),
    (r"int\*", r"size|total|position|count|version|value", "output(64, -1)"),
    (r"int|int64_t", r"rows|cols|m|n|mb|nb|kb|k|(row_|col_)?block(_[ac])?|slice|stride|algo",
     "number(kDimension)"),
    (r"int|int64_t", r"ld|ld[abcx]|ell_cols|padded_size", "number(kElementSize)"),
    (r"int|int64_t|size_t", r"\w*", "number(kCount)"),
]
LEFT_OUT = {
    "cusparseLoggerOpenFile": "keeps each file open, for all threads write to it",
    "cusparseLoggerSetFile": "takes a FILE, which nobody can check",
    "cusparseLoggerForceDisable": "ends all tests of the log",
    "cublasLtLoggerOpenFile": "keeps each file open, for all threads write to it",
    "cublasLtLoggerSetFile": "takes a FILE, which nobody can check",
    "cublasLoggerConfigure": "prints a line for each call",
    "cublasSetWorkspace_v2": "keeps no address",
    "cusolverDnLoggerOpenFile": "keeps each file open, for all threads write to it",
    "cusolverDnLoggerSetFile": "takes a FILE, which nobody can check",
    "cusolverDnLoggerSetCallback": "takes a function of another kind",
}
EXTRA = {  # runtime functions for memory, streams, graphs and callbacks in calls of the libraries
    "cudaMalloc": ["out_address()", "number(kSize)"],
    "cudaFree": ["address()"],
    "cudaStreamCreate": ["out_handle(k_stream)"],
    "cudaStreamDestroy": ["handle(k_stream)"],
    "cudaStreamSynchronize": ["handle(k_stream)"],
    "cudaDeviceSynchronize": [],
    "cudaStreamBeginCapture": ["handle(k_stream)", "enumerator(kEnum_Small)"],
    "cudaStreamEndCapture": ["handle(k_stream)", "out_handle(k_graph)"],
    "cudaGraphDestroy": ["handle(k_graph)"],
    "cudaLaunchHostFunc": ["handle(k_stream)", "callback(kHostFunction)", "user_data()"],
    "cudaMemset": ["address()", "number(kCount)", "number(kSize)"],
}


def parameter_of(text):
    """('void*', 'p') for 'const void *p'; the name is empty if there is none."""
    text = re.sub(r"Real<(\w+)>", r"\1", text.strip()).replace("long long int", "long long")
    stars = text.count("*") + text.count("[")
    words = re.sub(r"\[\w*\]|\*|\bconst\b", " ", text).split()
    named = len(words) > 1 and not (words[0] in ("unsigned", "long") and len(words) == 2
                                    and words[1] in ("int", "long", "char"))  # fmt: skip
    name = words.pop() if named else ""
    return " ".join(words) + "*" * stars, name


@functools.cache
def functions():
    """All functions that the libraries implement: {name: text of its parameters}."""
    root = cuda_driver.ROOT
    files = sorted(path for pattern in SOURCES for path in root.glob(pattern))
    text = "".join(f'#include "{path.relative_to(root)}"\n' for path in files)
    command = ["g++", "-std=c++20", "-E", "-P", "-x", "c++", f"-I{root}", f"-I{root}/src",
               f"-I{root}/include", "-"]  # fmt: skip
    done = subprocess.run(command, input=text, text=True, check=True, capture_output=True)
    # cuSOLVER's are those of its table, but for numbers that words do not hold.
    table = (root / "dropin/cusolver/generated/functions.def").read_text()
    solver = re.findall(r"^KM_CUSOLVER_FUNCTION\((\w+), \w+, \(([^()]*)\)", table, re.M)
    solver = {name: inside.replace("long long int", "long long") for name, inside in solver
              if not re.search(r"\bcu(Double)?Complex \w", inside)}  # fmt: skip
    status = "(?:cublasStatus_t|curandStatus_t|cusparseStatus_t|cudnnStatus_t|cufftResult)"
    name = r"(?:cublas|curand|cusparse|cudnn|cufft)\w+"
    pattern = rf"\b{status}\s+({name})\s*\(([^(){{}}]*)\)\s*\{{"
    return dict(sorted({**dict(re.findall(pattern, done.stdout)), **solver}.items()))


def kind_of(function, text):
    kind, name = parameter_of(text)
    has_const = "const" in text.split("*")[0].split()
    if function.endswith("Init_internal") and kind in HANDLES:
        return "output(256, -1)"
    for wanted in (kind, name if kind.startswith("void*") else None):
        if wanted in HANDLES and kind in (wanted, "void*"):
            return f"handle({HANDLES[wanted]})"
    base = kind[:-1]
    out = HANDLES.get(base) or (HANDLES.get(name) if kind == "void**" else None)
    if out and kind.endswith("*"):
        is_made = re.search(r"[Cc]reate|^cufftPlan|^cufftXtMalloc", function)
        return f"out_handle({out})" if is_made else "output(64, -1)"
    if name == "type" and function.startswith("curandCreate"):
        return "enumerator(kEnum_Generator)"
    spelled = ("const " if has_const else "") + kind
    if kind in ("cuComplex", "cuDoubleComplex"):  # by value, in registers of floats
        return "real(8)"
    own = {"cusparse": SPARSE_RULES, "cusolver": SOLVER_RULES}
    rules = [*own.get(function[:8], []), *RULES]
    for types, names, made in rules:
        if not (re.fullmatch(types, spelled) or re.fullmatch(types, kind)):
            continue
        if re.fullmatch(names, name) and "*" in made_for(made, kind):
            return made
    return f"enumerator(kEnum_{enum_of(function, kind)})"


def made_for(made, kind):
    """True if a rule is meant for the type: rules for numbers match neither enumerations nor
    pointers.
    """
    is_plain = made.startswith(("number", "enumerator", "real"))
    numbers = r"int|unsigned|size_t|u?int(32|64)_t|(unsigned )?long long|float|double"
    is_number = re.fullmatch(numbers, kind)
    return "*" if not is_plain or is_number else ""


def enum_of(function, kind):
    for name, (_, types) in ENUMS.items():
        if re.fullmatch(types, kind):
            return name
    raise SystemExit(f"gen: {function}: the fuzzer has no values for {kind}")


def declared(kinds):
    types = {"real(4)": "float", "real(8)": "double"}
    return ", ".join(types.get(each, "Word") for each in kinds)


def text():
    rows, declarations, inputs = [], [], []
    table = {name: [kind_of(name, each) for each in filter(str.strip, parameters.split(","))]
             for name, parameters in functions().items() if name not in LEFT_OUT}  # fmt: skip
    for name, kinds in {**table, **EXTRA}.items():
        declarations.append(f"int32_t {name}({declared(kinds)});\n")
        rows.append(fuzz_calls.row_text(name, name, kinds))
        inputs += re.findall(r"input\((\w+)", " ".join(kinds))
    lists = [f"constexpr int64_t kValues_{name}[] = {{{', '.join(map(str, values))}}};\n"
             for name, (values, _) in ENUMS.items()]  # fmt: skip
    lists += ["constexpr Enumeration kEnumerations[] = {\n",
              *(f'    {{"{n}", kValues_{n}, {len(v)}}},\n' for n, (v, _) in ENUMS.items()), "};\n"]
    parts = [
        fuzz_calls.enum_text("HandleType", [*dict.fromkeys(HANDLES.values()), "kHandleTypeCount"]),
        fuzz_calls.enum_text("InputType", list(dict.fromkeys(inputs))),
        fuzz_calls.enum_text("CallbackType", ["kLog", "kSparseLog", "kHostFunction"]),
        fuzz_calls.enum_text("EnumType", [f"kEnum_{name}" for name in ENUMS]), *lists,
        *(f"// Left out: {name}: it {why}.\n" for name, why in LEFT_OUT.items()),
        'extern "C" {\n', *declarations, "}\n",
    ]  # fmt: skip
    banner = "// Generated by `make gen` from the libraries of dropin/.\n"
    return fuzz_calls.table_text(banner, parts, rows)


def outputs():
    return {f"{fuzz_calls.FOLDER}/library_calls.inc": lambda tool: text()}
