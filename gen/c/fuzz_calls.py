"""tests/fuzz_api/generated/*.inc: tables of all functions of the C ABI and of the CUDA driver.

A row has a function's name, its call, and a kind for each parameter, from which the fuzzer draws
values. A parameter that no rule matches is an error.
"""

import functools
import re

from c import c_header
from cuda import cuda_driver

FOLDER = "tests/fuzz_api/generated"

# (type, name, kind): the first rule that matches both applies. A kind is a constructor of
# call_table.h; {of} is replaced by the number of the parameter with the number of elements.
C_RULES = [
    (r"uint64_t", r"node|from|to", "handle(kNode)"),
    (r"uint64_t", r"range", "handle(kRange)"),
    (r"uint64_t", r"\w*address", "address()"),
    (r"uint64_t\*", r"out_node", "out_handle(kNode)"),
    (r"uint64_t\*", r"out_range", "out_handle(kRange)"),
    (r"uint64_t\*", r"out_address", "out_address()"),
    (r"uint64_t\*", r"nodes", "out_handles(kNode, {of})"),
    (r"const uint64_t\*", r"dependencies", "in_handles(kNode, {of})"),
    (r"const uint32_t\*", r"blocks", "input(kBlockShapes, 12, {of})"),
    (r"char\*", r"buffer", "out_text({of})"),
    (r"void\*", r"buffer", "out_text({of})"),
    (r"const char\*", r"\w+", "text({text}, {of})"),
    (r"void\*", r"user_data", "user_data()"),
    (r"void\*", r"pointer", "pages({of})"),
    (r"void\*", r"destination", "room({of})"),
    (r"const void\*", r"source|data|value", "data({of})"),
    (r"const void\*", r"arguments", "input(kArguments, 1, {of})"),
    (r"const void\*", r"alpha|beta|c|s|y1|parameters|scale", "input(kBlasScalar, 64, -1)"),
    (r"const km_context\*", r"contexts", "in_handles(k_km_context, {of})"),
    (r"void\*", r"a|b|c|s|d1|d2|x1|parameters", "output(64, -1)"),
    (r"km_\w+_callback", r"\w+", "callback(k_{type})"),
    (r"double", r"\w+", "real(8)"),
]
COUNT_NAMES = {  # pointer to elements -> names of its count; the first that the function has
    "buffer": ["capacity_bytes"],
    "nodes": ["capacity"],
    "contexts": ["count"],
    "out_comms": ["count"],
    "out_records": ["capacity"],
    "out_counts": ["capacity"],
    "out_allocations": ["capacity"],
    "out_samples": ["capacity"],
    "dependencies": ["dependency_count"],
    "slices": ["slice_count"],
    "blocks": ["block_count"],
    "arguments": ["arguments_size_bytes"],
    "source": ["source_size_bytes", "size_bytes"],
    "ptx": ["ptx_size_bytes"],
    "data": ["size_bytes"],
    "value": ["size_bytes"],
    "pointer": ["size_bytes", "element_count"],
    "destination": ["size_bytes"],
}
C_TEXTS = {
    "uri": "kUri", "backend": "kUri", "path": "kPath", "ptx": "kPtx", "source": "kSource",
    "name": "kName", "kernel": "kName", "expression": "kName", "option": "kOption",
    "options": "kOption", "tag": "kWord", "problem": "kWord",
}  # fmt: skip
NUMBER_NAMES = [  # (names, class)
    (r"capacity\w*", "kCapacity"),
    (r"priority", "kPriority"),
    (r"element_size_bytes|value_size_bytes|\w*ElementSize\w*|elementSize", "kElementSize"),
    (r"\w*[Oo]ffset\w*|first_element", "kOffset"),
    (r"\w*pitch\w*|\w*Pitch\w*|alignment\w*|granularity", "kSize"),
    (r"shared_bytes|sharedMemBytes|dynamicSMemSize", "kSharedSize"),
    (r"\w*bytes|\w*size|ByteCount|\w*Size|length|len|bytes", "kSize"),
    (r"\w*_ns|timeout\w*", "kTime"),
    (r"index|\w*Index|\w*ordinal|level|dim|candidate", "kIndex"),
    (r"x|y|z|gridDim\w|blockDim\w|block_[xyz]|grid_\w+", "kDimension"),
    (r"\w*threads|blockSize\w*|numBlocks|\w*blocks", "kThreads"),
    (r"\w*[Ff]lags|cooperative", "kFlagBits"),
    (r"\w*count|num\w+|nb\w+|N|[nmk]|lower|upper|Width\w*|Height|width|height|depth", "kCount"),
]


class Unknown(Exception):
    pass


def number_class(name):
    return next((kind for names, kind in NUMBER_NAMES if re.fullmatch(names, name)), "kAnyNumber")


def place_of(names, wanted):
    """The number of the first parameter with one of the wanted names; -1 if there is none."""
    return next((names.index(each) for each in wanted if each in names), -1)


def enumerations_of_c(text):
    """The enumerations of the header: {type: [enumerators]}."""
    pattern = r"typedef u?int32_t (km_\w+);\s*enum \{(.*?)\};"
    return {name: list(c_header.constants(re.sub(r",", ",\n", body)))
            for name, body in re.findall(pattern, text, re.S)}  # fmt: skip


def output_of(parameter, names):
    base = parameter.type[:-1]
    of = place_of(names, COUNT_NAMES.get(parameter.name, []))
    has_size = base.startswith("km_") and "struct_size" in STRUCTURES.get(base, "")
    return f"{'sized_output' if has_size else 'output'}(sizeof({base}), {of})"


STRUCTURES = {}


def c_kind(parameter, names, handles, enums):
    kind, name = parameter.type, parameter.name
    if kind in handles:
        return f"handle(k_{kind})"
    of = place_of(names, COUNT_NAMES.get(name, []))
    if kind.endswith("*") and kind[:-1] in handles:
        base = f"k_{kind[:-1]}"
        return f"out_handle({base})" if of < 0 else f"out_handles({base}, {of})"
    if kind in enums:
        return f"enumerator(kEnum_{kind})"
    for types, wanted, made in C_RULES:
        if re.fullmatch(types, kind) and re.fullmatch(wanted, name):
            return made.format(of=of, type=kind, text=C_TEXTS.get(name, "kWord"))
    structure = re.fullmatch(r"const (km_\w+)\*", kind)
    if structure and structure[1] in STRUCTURES:
        return f"input(k_{structure[1]}, sizeof({structure[1]}), {of})"
    if re.fullmatch(r"u?int\d+_t", kind):
        return f"number({number_class(name)})"
    if kind.endswith("*") and name.startswith("out_"):
        return output_of(parameter, names)
    raise Unknown(f"{kind} {name}")


def enum_text(name, members):
    return f"enum {name} : int16_t {{\n" + "".join(f"  {each},\n" for each in members) + "};\n"


def value_lists(enums, prefix=""):
    """The enumerators of each enumeration, and a table of them."""
    lines = []
    for name, values in enums.items():
        listed = ", ".join(prefix + each for each in values)
        lines.append(f"constexpr int64_t kValues_{name}[] = {{{listed}}};\n")
    lines.append("constexpr Enumeration kEnumerations[] = {\n")
    lines += [f'    {{"{n}", kValues_{n}, {len(values)}}},\n' for n, values in enums.items()]
    return "".join([*lines, "};\n"])


def row_text(name, qualified, kinds):
    listed = ", ".join(kinds)
    return (f"constexpr Parameter kParameters_{name}[] = {{{listed}}};\n" if kinds else ""), (
        f'    {{"{name}", call<{qualified}>, {f"kParameters_{name}" if kinds else "nullptr"}, '
        f"{len(kinds)}}},\n"
    )


def table_text(banner, parts, rows):
    before, listed = zip(*rows)
    return "".join([banner, "// clang-format off\n", *parts, *before,
                    "const Row kRows[] = {\n", *listed, "};\n"])  # fmt: skip


def kinds_or_exit(name, parameters, make):
    try:
        return [make(each) for each in parameters]
    except Unknown as unknown:
        raise SystemExit(f"gen: {name}: the fuzzer has no values for {unknown}") from None


def c_text():
    text = c_header.text()
    handles = c_header.handles(text)
    enums = enumerations_of_c(text)
    STRUCTURES.update(re.findall(r"typedef struct (km_\w+) \{(.*?)\}", text, re.S))
    callbacks = re.findall(r"\(\*(km_\w+_callback)\)", text)
    rows, inputs = [], ["kBlockShapes", "kArguments", "kBlasScalar"]
    for function in c_header.functions(text):
        names = [each.name for each in function.parameters]
        kinds = kinds_or_exit(function.name, function.parameters,
                              lambda each: c_kind(each, names, handles, enums))  # fmt: skip
        rows.append(row_text(function.name, function.name, kinds))
        inputs += re.findall(r"input\((k_\w+)", " ".join(kinds))
    types = [*(f"k_{each}" for each in handles), "kNode", "kRange", "kHandleTypeCount"]
    parts = [
        enum_text("HandleType", types), enum_text("InputType", dict.fromkeys(inputs)),
        enum_text("CallbackType", [f"k_{each}" for each in callbacks]),
        enum_text("EnumType", [f"kEnum_{each}" for each in enums]), value_lists(enums),
    ]  # fmt: skip
    return table_text("// Generated by `make gen` from include/kernelmill.\n", parts, rows)



# The rules for the driver's types; {n} is the type without its pointers.
DRIVER_FOLDER = cuda_driver.ROOT / "src/cuda"
DRIVER_RULES = [
    (r"CUdevice", r"\w+", "number(kDevice)"),
    (r"CUdeviceptr(_v1)?", r"\w+", "address()"),
    (r"CUdeviceptr\*", r"dsts|srcs|dptrs", "in_addresses({of})"),
    (r"CUdeviceptr(_v1)?\*", r"\w+", "out_address()"),
    (r"size_t\*", r"sizes|attrsIdxs|prefetchLocIdxs|dataSizes", "input(kSizes, 8, {of})"),
    (r"size_t\*|unsigned int\*", r"num(Nodes|RootNodes|Edges|Dependencies|DependentNodes)|nbGroups"
     r"|size", "count_in_out()"),
    (r"CUjit_option\*", r"\w+", "input(kJitOptions, 4, {of})"),
    (r"CUlibraryOption\*", r"\w+", "input(kLibraryOptions, 4, {of})"),
    (r"void\*\*", r"\w*[oO]ptions?Values", "input(kJitValues, 8, {of})"),
    (r"void\*\*", r"kernelParams", "input(kKernelParams, 64, -1)"),
    (r"void\*\*", r"extra", "input(kLaunchExtra, 64, -1)"),
    (r"void\*\*", r"data", "input(kPointers, 8, {of})"),
    (r"void\*\*", r"pp", "out_handle(kHostPointer)"),
    (r"const void\*", r"image|code|fatCubin", "text(kImage, -1)"),
    (r"const void\*", r"srcHost", "data({of})"),
    (r"const void\*", r"\w+", "input(kSmallNumbers, 256, -1)"),
    (r"void\*", r"dstHost", "room({of})"),
    (r"void\*", r"userData|ptr", "user_data()"),
    (r"void\*", r"globalAddress|addr", "address()"),
    (r"void\*", r"p", "pages({of})"),
    (r"void\*", r"data", "output({data_size}, {of})"),
    (r"void\*", r"value", "input(kSmallNumbers, {value_size}, {of})"),
    (r"void\*", r"\w+", "input(kSmallNumbers, 256, -1)"),
    (r"const char\*", r"path\w*|fname|fileName", "text(kPath, -1)"),
    (r"const char\*", r"symbol", "text(kSymbol, -1)"),
    (r"const char\*", r"pciBusId", "text(kBusId, -1)"),
    (r"const char\*", r"\w+", "text(kName, -1)"),
    (r"char\*", r"luid", "output(8, -1)"),
    (r"char\*", r"\w+", "out_text({of})"),
    (r"VdpGetProcAddress\*|EGL\w+KHR", r"\w+", "number(kNull)"),
    (r"float", r"\w+", "real(4)"),
    (r"const (cuuint\d+_t|int)\*", r"\w+", "input(kSmallNumbers, 256, -1)"),
    (r"(unsigned )?int\*", r"capabilities|queryStatus", "output(4, {of})"),
    (r"CUdevice\*", r"pCudaDevices", "output(4, {of})"),
    (r"(const )?(void|char)\*\*|const CU\w+\*\*", r"\w+", "output(8, -1)"),
    (r"float\*", r"pBorderColor", "output(16, -1)"),  # red, green, blue, alpha
    (r"(size_t|float|int|unsigned|unsigned (int|char|short|long long)|cuuint\d+_t|CUdevice)\*",
     r"\w+", "output(sizeof({n}), -1)"),
    (r"size_t|int|unsigned( (int|char|short|long long))?|cuuint\d+_t|EGLint|GL(uint|enum)"
     r"|Vdp(Device|OutputSurface|VideoSurface)", r"\w+", "number({number})"),
]  # fmt: skip
DRIVER_COUNTS = [  # (names of pointers to elements, names of their counts)
    (r"dependencies|from|to|dependencyData|edgeData", ["numDependencies", "numEdges"]),
    (r"nodes", ["numNodes"]),
    (r"rootNodes", ["numRootNodes"]),
    (r"dependentNodes", ["numDependentNodes"]),
    (r"edgeData", ["numDependentNodes"]),
    (r"options|optionValues", ["numOptions"]),
    (r"jitOptions(Values)?", ["numJitOptions"]),
    (r"libraryOption(s|Values)", ["numLibraryOptions"]),
    (r"extSemArray|paramsArray", ["numExtSems", "count", "numParams"]),
    (r"resources", ["nbResources"]),
    (r"resources|paramArray|dsts|srcs|dptrs|sizes|desc|map|mapInfoList|capabilities|operations",
     ["count"]),
    (r"attrs|attrsIdxs", ["numAttrs"]),
    (r"prefetchLocs|prefetchLocIdxs", ["numPrefetchLocs"]),
    (r"opList", ["numOps"]),
    (r"launchParamsList", ["numDevices"]),
    (r"functions", ["numFunctions"]),
    (r"kernels", ["numKernels"]),
    (r"attributes|data|dataSizes", ["numAttributes"]),
    (r"pCudaDevices", ["cudaDeviceCount"]),
    (r"queryStatus", ["count"]),
    (r"result|groupParams", ["nbGroups"]),
    (r"name|pciBusId", ["len"]),
    (r"logBuffer", ["bufferSize"]),
    (r"buffer|value", ["size"]),
    (r"srcHost|dstHost", ["ByteCount"]),
    (r"data", ["dataSize", "size"]),
    (r"ptr", ["numbytes"]),
    (r"p", ["bytesize"]),
]  # fmt: skip
# Functions that are not called, with the reasons.
LEFT_OUT = {
    "cuEGLStreamProducerPresentFrame": "takes a structure of EGL by value, which is not declared",
}


def driver_of(name, types, names):
    for pointers, wanted in DRIVER_COUNTS:
        if re.fullmatch(pointers, name) and (place := place_of(names, wanted)) >= 0:
            return place
    return -1


def handle_kind(kind, base, name, of, types):
    if not kind.endswith("*"):
        return f"handle(k_{base})"
    if of < 0:
        return f"out_handle(k_{base})"
    is_read = kind.startswith("const ") or name in ("dependencies", "resources")
    is_read = is_read and not types[of].endswith("*")
    return f"{'in' if is_read else 'out'}_handles(k_{base}, {of})"


def enum_kind(kind, base, of):
    if not kind.endswith("*"):
        return f"enumerator(kEnum_{base})"
    if kind.startswith("const ") or of >= 0:
        return f"enumerators(kEnum_{base}, {of})"
    return "output(4, -1)"


def driver_kind(index, types, names, known):
    kind, name = types[index], names[index]
    base = re.sub(r"^const |\*", "", kind)
    of = driver_of(name, types, names)
    if base in known["handles"] and kind.count("*") < 2:
        return handle_kind(kind, base, name, of, types)
    if name in ("data", "ptr") and kind == "void*" and of >= 0 and "dataSize" not in names:
        return f"text(kImage, {of})" if name == "data" else f"data({of})"
    for wanted, spelled, made in DRIVER_RULES:
        if re.fullmatch(wanted, kind) and re.fullmatch(spelled, name):
            return made.format(of=of, n=base, number=number_class(name),
                               data_size=64 if of < 0 else 1,
                               value_size=256 if of < 0 else 1)  # fmt: skip
    if base in known["enums"]:
        return enum_kind(kind, base, of)
    if base in known["callbacks"]:
        return f"callback(k_{base})"
    if base in known["structures"]:
        size = f"sizeof({base})" if known["structures"][base] else "512"
        if not kind.endswith("*"):
            return f"value(k_{base}, {size})"
        return f"input(k_{base}, {size}, {of})"
    raise Unknown(f"{kind} {name}")


def driver_types():
    """The declarations of driver.h and enums.h: handles, callbacks, structures (True: with
    members).
    """
    text = (DRIVER_FOLDER / "driver.h").read_text()
    enums = {
        name: re.findall(r"^  (\w+)", body, re.M)
        for name, body in re.findall(
            r"using (\w+) = int32_t;\nenum : int32_t \{\n(.*?)\};", cuda_driver.enums_text(), re.S)
    }  # fmt: skip
    for alias, base in re.findall(r"using (CU\w+) = (CUlaunchAttributeID);", text):
        enums[alias] = enums[base]
    enums["CUoutput_mode"] = enums["CUGLDeviceList"] = []
    structures = dict.fromkeys(re.findall(r"^struct (CU\w+);", text, re.M), False)
    structures |= dict.fromkeys(re.findall(r"^(?:struct|union) (CU\w+) \{", text, re.M), True)
    structures |= dict.fromkeys(re.findall(r"using (CU\w+) = CUlaunchAttributeValue;", text), True)
    numbers = ["CUmemGenericAllocationHandle", "CUtexObject", "CUsurfObject", "CUlogIterator",
               "CUgraphConditionalHandle", "CUlogicalEndpointId"]  # fmt: skip
    return {
        "handles": [*re.findall(r"using (CU\w+) = struct CU\w+\*;", text), *numbers],
        "enums": enums,
        "callbacks": re.findall(r"using (CU\w+) = \w+ \(\*\)\(", text),
        "structures": structures,
    }


@functools.cache
def driver_texts():
    """The enumerators of the driver's types, and the table of its functions."""
    known = driver_types()
    spelled = cuda_driver.parameter_names("".join(cuda_driver.preprocessed()[::-1]))
    spelled |= {"cuProfilerInitialize": ["path", "path", "mode"]}
    special = ["kSizes", "kJitOptions", "kLibraryOptions", "kJitValues", "kKernelParams",
               "kLaunchExtra", "kPointers", "kSmallNumbers"]  # fmt: skip
    rows = []
    for name, types in cuda_driver.read()[1].items():
        if name in LEFT_OUT:
            continue
        names = spelled.get(name, [])
        kinds = kinds_or_exit(name, range(len(types)),
                              lambda index: driver_kind(index, types, names, known))  # fmt: skip
        rows.append(row_text(name, f"km::cu::{name}", kinds))
    handles = [*(f"k_{each}" for each in known["handles"]), "kHostPointer", "kHandleTypeCount"]
    notes = [f"// Left out: {name}: it {why}.\n" for name, why in LEFT_OUT.items()]
    parts = [
        enum_text("HandleType", handles),
        enum_text("InputType", [*special, *(f"k_{each}" for each in known["structures"])]),
        enum_text("CallbackType", [f"k_{each}" for each in known["callbacks"]]),
        enum_text("EnumType", [f"kEnum_{each}" for each in known["enums"]]),
        value_lists({k: v or ["CUDA_SUCCESS"] for k, v in known["enums"].items()}, "km::cu::"),
    ]  # fmt: skip
    return {"types": "".join([cuda_driver.banner(), "// clang-format off\n", *parts]),
            "calls": table_text(cuda_driver.banner(), notes, rows)}  # fmt: skip


def outputs():
    return {
        f"{FOLDER}/c_api_calls.inc": lambda tool: c_text(),
        f"{FOLDER}/driver_types.inc": lambda tool: driver_texts()["types"],
        f"{FOLDER}/driver_calls.inc": lambda tool: driver_texts()["calls"],
    }
