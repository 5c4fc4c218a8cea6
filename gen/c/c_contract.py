"""The contract of each C ABI function: the rules of include/kernelmill/base.h and its own comment.

Signatures determine the defaults: each handle can be dead, each out-parameter null, each object of
a context lost. `expanded` writes the whole contract for the reference pages and the bindings.
"""

import re
import textwrap
from dataclasses import dataclass

from c import c_header

FIELDS = ("Blocking", "Threads", "Status")
DEFAULTS = {"Blocking": "no.", "Threads": "any.", "Status": "KM_SUCCESS."}
STICKY = "the sticky error"
STICKY_TEXT = "the sticky error of the context when a kernel failed"
NEVER = re.compile(r"never (KM_ERROR_\w+)")
WORDS = {  # handles whose type has another name in prose
    "km_host_memory": "host memory", "km_blas": "BLAS object", "km_graph_exec": "graph exec",
    "km_tune": "tuning", "km_fft": "plan of transforms",
    "km_comm": "communicator",
}
# types without a context, which a reset does not affect
NO_CONTEXT = {"km_device", "km_context", "km_program", "km_tune"}
PACKED = re.compile(r"km_blas_(sp|tp)\w+$")  # matrices without a leading dimension
BLAS_COMMON = (
    ("KM_ERROR_OUT_OF_BOUNDS", "when an array reaches beyond its slice or allocation"),
    ("KM_ERROR_CONTEXT_MISMATCH", "when a slice belongs to another context without peer access"),
    ("KM_ERROR_NOT_PERMITTED", "when an array that is written lies in a file mapped read-only"),
    ("KM_ERROR_BLAS_UNAVAILABLE", "when the BLAS library is missing, with what to install"),
)


@dataclass
class Contract:
    text: str  # the description of the function
    blocking: str
    threads: str
    statuses: list  # (name, condition); the sticky error has the name ""

    def status_text(self) -> str:
        return "; ".join(f"{name} {when}".strip() for name, when in self.statuses) + "."


def split(doc: str) -> tuple:
    """Splits a doc comment into its prose and its fields: `Name: text` up to the next field."""
    prose, *found = re.split(rf"^({'|'.join(FIELDS)}):", doc, flags=re.M)
    return prose.strip(), {
        name: " ".join(text.split()) for name, text in zip(found[::2], found[1::2])
    }


def items(text: str) -> list:
    """The pairs (status, condition) in the text of `Status:`."""
    found = []
    for item in filter(None, (each.strip(" .") for each in text.split(";"))):
        name, _, condition = item.partition(" ")
        found.append((name, condition) if name.startswith("KM_") else ("", item))
    return found


def listed(names: list, last: str = "or") -> str:
    names = [f"`{name}`" for name in names]
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def live(parameters: list, is_destroy: bool) -> str:
    """The condition of dead handles: "when `a` is not a live stream, or `b` or `c` not a live
    slice".
    """
    by_type = {}
    for parameter in parameters:
        by_type.setdefault(parameter.type, []).append(parameter.name)
    parts = []
    for kind, names in by_type.items():
        word = WORDS.get(kind, kind.removeprefix("km_"))
        verb = "is neither null nor" if is_destroy and not parts else "is not"
        parts.append(f"{listed(names)} {verb} a live {word}")
    return "when " + ", or ".join(parts)


def is_blas_call(function) -> bool:
    """True for a BLAS call that takes arrays."""
    return bool(function.parameters) and function.parameters[0].type == "km_blas" and any(
        p.type.startswith("const km_blas_") for p in function.parameters
    )


def is_sparse_call(function) -> bool:
    """True for a call that takes a sparse matrix."""
    return any(p.type == "const km_sparse_matrix*" for p in function.parameters)


def is_comm_call(function) -> bool:
    """True for an operation of a communicator."""
    return [p.type for p in function.parameters[:2]] == ["km_comm", "km_stream"]


def comm_argument(function) -> str:
    """The condition of a wrong argument of a communicator's operation."""
    names = [p.name for p in function.parameters]
    arrays = [p.name for p in function.parameters if p.type == "const km_array*"]
    parts = ["`type` is none that communicators have"]
    if "reduction" in names:
        parts.append("`reduction` is no km_comm_reduction")
        parts.append("`scale` is null for a scaled sum or given for another reduction")
    parts += [f"`{name}` is no rank" for name in ("root", "peer") if name in names]
    parts.append(f"{listed(arrays)} is null where the rank needs it")
    parts.append("an address is no multiple of an element's size")
    if arrays[1:]:
        parts.append("`send` and `receive` overlap without being in place")
    return "when " + ", ".join(parts[:-1]) + ", or " + parts[-1]


COMM_COMMON = (
    ("KM_ERROR_OUT_OF_BOUNDS", "when an array reaches beyond its slice or allocation"),
    ("KM_ERROR_CONTEXT_MISMATCH", "when the stream belongs to another context than the "
     "communicator, or a slice to one without peer access"),
    ("KM_ERROR_NOT_PERMITTED", "when an array that is written lies in a file mapped read-only"),
    ("KM_ERROR_IO", "when the communicator has failed, with the reason"),
)


def blas_argument(function) -> str:
    """The condition of a wrong argument of a BLAS routine."""
    is_sparse = is_sparse_call(function)
    kinds = [p for p in function.parameters if re.match(r"km_(data_type|blas_\w+)$", p.type)]
    pointers = [p.name for p in function.parameters if p.type.endswith("*")]
    sizes = [p.name for p in function.parameters if p.type == "uint64_t"]
    has = {p.type for p in function.parameters}
    parts = [f"{listed([p.name for p in kinds])} is no value of its kind that the routine takes",
             f"{listed(pointers)} is null"]
    if is_sparse:
        parts.append("a member of `a` has a value that it cannot have")
    if sizes:
        parts.append(f"{listed(sizes)} is beyond 2^31 - 1")
    if "const km_blas_vector*" in has:
        parts.append(f"an increment is {'below 1' if is_sparse else '0'} or beyond 2^31 - 1")
    if "const km_blas_matrix*" in has and not PACKED.match(function.name):
        parts.append("a leading dimension is less than a line or beyond 2^31 - 1")
    parts.append("an address is no multiple of a number's size")
    if sum(p.type.startswith("const km_blas_") for p in function.parameters) > 1:
        parts.append("an array that is written overlaps another")
    return "when " + ", ".join(parts[:-1]) + ", or " + parts[-1]


def argument_defaults(function, with_size: set) -> list:
    """The conditions of KM_ERROR_INVALID_ARGUMENT that follow from the parameters."""
    names = [p.name for p in function.parameters]
    found = []
    if is_blas_call(function):
        return [blas_argument(function)]
    if is_comm_call(function):
        return [comm_argument(function)]
    if "dependencies" in names:
        found.append("when `dependencies` is null and `dependency_count` is not 0, names no node "
                     "of the graph or names one twice")
    if "capacity_bytes" in names:
        found.append("when `buffer` is null and `capacity_bytes` is not 0, or `buffer` and "
                     "`out_size_bytes` are both null")
    elif "capacity" not in names:
        outs = [p for p in function.parameters if p.name.startswith("out_")]
        sized = [p.name for p in outs if p.type.rstrip("*") in with_size]
        plain = [p.name for p in outs if p.name not in sized]
        found += [f"when `{name}` is null or its struct_size is below 4" for name in sized]
        found += [f"when {listed(plain)} is null"] if plain else []
    return found


def defaults(function, handles: list, with_size: set) -> list:
    """The pairs (status, condition) that hold for a function unless its comment says otherwise."""
    taken = [p for p in function.parameters if p.type in handles]
    is_destroy = bool(taken) and re.search(r"_destroy(_on_stream)?$", function.name) is not None
    found = [("KM_SUCCESS", "")]
    if taken:
        found.append(("KM_ERROR_INVALID_HANDLE", live(taken, is_destroy)))
    inner = [p.name for p in taken if p.type not in NO_CONTEXT]
    if is_blas_call(function):
        found[-1] = ("KM_ERROR_INVALID_HANDLE", "when `blas` is not a live BLAS object, or the "
                     "`slice` of an array neither 0 nor a live slice")
        found.append(("KM_ERROR_CONTEXT_LOST",
                      "when the context of `blas` or of a slice was reset after its creation"))
        found += BLAS_COMMON
    elif is_comm_call(function):
        found[-1] = ("KM_ERROR_INVALID_HANDLE", "when `comm` is not a live communicator, `stream` "
                     "not a live stream, or the `slice` of an array neither 0 nor a live slice")
        found.append(("KM_ERROR_CONTEXT_LOST", "when the context of `comm`, of `stream` or of a "
                      "slice was reset after its creation"))
        found += COMM_COMMON
    elif inner and not function.name.endswith("_destroy"):
        found.append(("KM_ERROR_CONTEXT_LOST",
                      f"when the context of {listed(inner)} was reset after its creation"))
    if (sum(p.type not in NO_CONTEXT - {"km_context"} for p in taken) > 1
            and not is_comm_call(function)):
        found.append(("KM_ERROR_CONTEXT_MISMATCH",
                      "when the objects belong to different contexts"))
    if any(p.name == "capacity_bytes" for p in function.parameters):
        found.append(("KM_ERROR_BUFFER_TOO_SMALL",
                      "when the text needs more than `capacity_bytes`"))
    found += [("KM_ERROR_INVALID_ARGUMENT", when)
              for when in argument_defaults(function, with_size)]
    has_sticky = is_blas_call(function) or is_comm_call(function)
    return found + ([("", STICKY_TEXT)] if has_sticky else [])


def merge(implied: list, own: list, never: list) -> list:
    """Merges a function's own conditions, which come first, with the defaults.

    The function's conditions on arguments and handles are added to the defaults; for other statuses
    they replace them.
    """
    own = [each for each in own if not (each[0] == "" and NEVER.fullmatch(each[1]))]
    own = [(name, STICKY_TEXT) if (name, text) == ("", STICKY) else (name, text)
           for name, text in own]
    adds = {"KM_ERROR_INVALID_ARGUMENT", "KM_ERROR_INVALID_HANDLE"}
    named = {name for name, _ in own}
    kept = [each for each in implied
            if each[0] not in never and (each[0] in adds or each[0] not in named)]
    merged = {}
    for name, text in [*kept[:1], *(k for k in kept if k[0] == "KM_ERROR_INVALID_HANDLE"), *own,
                       *kept]:
        texts = merged.setdefault(name if name else text, [])
        if text not in texts:
            texts.append(text)
    return [
        (name, ", or ".join(texts)) if name.startswith("KM_") else ("", texts[0])
        for name, texts in merged.items()
    ]


def contract(function, handles: list, with_size: set) -> Contract:
    prose, said = split(function.doc)
    statuses = merge(defaults(function, handles, with_size), items(said.get("Status", "")),
                     taken_back(function))
    return Contract(prose, said.get("Blocking", DEFAULTS["Blocking"]),
                    said.get("Threads", DEFAULTS["Threads"]), statuses)


def taken_back(function) -> list:
    """The statuses that a comment excludes with "never"."""
    said = items(split(function.doc)[1].get("Status", ""))
    return [match[1] for name, text in said if name == "" and (match := NEVER.fullmatch(text))]


def repeated(function, handles: list, with_size: set) -> list:
    """The defaults that a comment repeats."""
    _, said = split(function.doc)
    found = [f"{name}: {text}" for name, text in said.items() if DEFAULTS.get(name) == text]
    implied = defaults(function, handles, with_size)
    found += [f"{name} {text}".strip() for name, text in items(said.get("Status", ""))
              if (name, text) in implied]
    return found


def wrapped(text: str, width: int, indent: str) -> str:
    return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False,
                         break_long_words=False)


def expanded(header: str) -> str:
    """The header with each function's whole contract in its comment, for the bindings and pages."""
    handles, with_size = c_header.handles(header), c_header.filled(header)
    by_name = {f.name: f for f in c_header.functions(header)}

    def written_out(match) -> str:
        each = contract(by_name[match["name"]], handles, with_size)
        lines = [*each.text.split("\n"), f"Blocking: {each.blocking}", f"Threads: {each.threads}"]
        lines += wrapped(f"Status: {each.status_text()}", 97, "  ").split("\n")
        doc = "/** " + "\n * ".join(lines) + "\n */"
        return doc + match[0][len(match["doc"] or "") :]

    return c_header.FUNCTION.sub(written_out, header)
