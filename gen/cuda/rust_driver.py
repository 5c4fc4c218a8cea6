"""The enumerations of the CUDA driver for the Rust facade, and the constants of its errors.

They come from files that are generated from CUDA's headers, and from the table of its results.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "bindings/rust/kernelmill/src/driver/generated"
SOURCES = "src/cuda/generated/enums.h and src/base/cuda/cuda_results.def"

# Enumerations whose values are single names, in the order of the file; the others are bit sets.
CHOICES = [
    "CUctx_flags",
    "CUdevice_attribute",
    "CUfunc_cache",
    "CUfunction_attribute",
    "CUlimit",
    "CUmemAttach_flags",
    "CUevent_flags",
    "CUoccupancy_flags",
    "CUstreamCaptureMode",
    "CUstreamCaptureStatus",
]
BITS = ["CUgraphInstantiate_flags"]
# Further names of these types, as in bindings made by bindgen.
OTHER_NAMES = {
    "CUctx_flags": "CUctx_flags_enum",
    "CUdevice_attribute": "CUdevice_attribute_enum",
    "CUfunc_cache": "CUfunc_cache_enum",
    "CUfunction_attribute": "CUfunction_attribute_enum",
    "CUoccupancy_flags": "CUoccupancy_flags_enum",
    "CUlimit": "CUlimit_enum",
    "CUmemAttach_flags": "CUmemAttach_flags_enum",
    "CUevent_flags": "CUevent_flags_enum",
    "CUstreamCaptureMode": "CUstreamCaptureMode_enum",
    "CUstreamCaptureStatus": "CUstreamCaptureStatus_enum",
}


def members(name: str) -> list:
    """The names and values of an enumeration."""
    header = (ROOT / "src/cuda/generated/enums.h").read_text()
    body = re.search(rf"using {name} = int32_t;\nenum : int32_t \{{\n(.*?)\}};", header, re.S)[1]
    found, ends, last = {}, set(), -1
    for line in re.findall(r"^ *(\w+)\s*(?:= *([^,]+))?,", body, re.M):
        last = int(eval(line[1], {}, dict(found))) if line[1] else last + 1  # noqa: S307
        found[line[0]] = last
        if not line[1] and line[0].endswith("_MAX"):
            ends.add(line[0])  # the number of enumerators, not a value
    return [(key, value) for key, value in found.items() if key not in ends]


def results() -> list:
    table = (ROOT / "src/base/cuda/cuda_results.def").read_text()
    pairs = re.findall(r"^KM_CUDA_RESULT\((\d+), (\w+), \w+\)", table, re.M)
    return [(name, int(number)) for number, name in pairs]


def choice(name: str, pairs: list, kind: str = "i32") -> str:
    """An enumeration whose values are single names."""
    first, others = {}, []
    for key, value in pairs:
        if value in first:
            others.append((key, first[value]))
        else:
            first[value] = key
    lines = [
        f"/// `{name}` of the CUDA driver.",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]",
        f"#[repr({kind})]",
        f"pub enum {name} {{",
    ]
    for value, key in first.items():
        lines += [f"    /// Number {value} in CUDA.", f"    {key} = {value},"]
    lines.append("}")
    if others:
        lines += [f"impl {name} {{"]
        for key, same in others:
            lines += [f"    /// Another name of [`Self::{same}`].",
                      f"    pub const {key}: Self = Self::{same};"]  # fmt: skip
        lines.append("}")
    if name in OTHER_NAMES:
        other = OTHER_NAMES[name]
        lines += [f"/// The name of [`{name}`] in C.", f"pub type {other} = {name};"]
    return "\n".join(lines) + "\n\n"


def bits(name: str) -> str:
    """A type whose values are sets of bits."""
    lines = [
        f"/// `{name}` of the CUDA driver, a set of bits.",
        "#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]",
        "#[repr(transparent)]",
        f"pub struct {name}(pub u32);",
        f"impl {name} {{",
    ]
    for key, value in members(name):
        lines += [f"    /// Bit {value} in CUDA.", f"    pub const {key}: Self = Self({value});"]
    lines += [
        "}",
        f"impl std::ops::BitOr for {name} {{",
        "    type Output = Self;",
        "    fn bitor(self, other: Self) -> Self {",
        "        Self(self.0 | other.0)",
        "    }",
        "}",
    ]
    return "\n".join(lines) + "\n\n"


def from_number() -> str:
    lines = [
        "impl CUresult {",
        "    /// The result of this number; [`Self::CUDA_ERROR_UNKNOWN`] when CUDA has none.",
        "    #[must_use]",
        "    pub fn from_number(number: i32) -> Self {",
        "        match number {",
    ]
    lines += [f"            {value} => Self::{key}," for key, value in results()]
    lines += ["            _ => Self::CUDA_ERROR_UNKNOWN,", "        }", "    }", "}"]
    return "\n".join(lines) + "\n"


def short(name: str) -> str:
    words = name.removeprefix("CUDA_ERROR_").removeprefix("CUDA_").split("_")
    return "".join(word.capitalize() for word in words)


def constants() -> str:
    lines = ["impl DriverError {"]
    for name, _ in results():
        if name != "CUDA_SUCCESS":
            lines += [
                f"    /// [`CUresult::{name}`].",
                f"    pub const {short(name)}: Self = Self(CUresult::{name});",
            ]
    return "\n".join([*lines, "}"]) + "\n"


def outputs() -> dict:
    banner = f"// Generated by `make gen` from {SOURCES}.\n"
    enums = choice("CUresult", results(), "u32")
    enums += "".join(choice(name, members(name)) for name in CHOICES)
    enums += "".join(bits(name) for name in BITS) + from_number()
    return {
        f"{FOLDER}/enums.rs": lambda tool: banner + enums,
        f"{FOLDER}/errors.rs": lambda tool: banner + constants(),
    }
