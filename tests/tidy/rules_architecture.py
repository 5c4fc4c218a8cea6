"""Rules on what knows the processor: folders with the name of an architecture, and nothing else."""

import re

from layers import ARCHITECTURES
from rules_code import includes
from tree import File, Finding

HOME = re.compile(rf"/(?:{'|'.join(ARCHITECTURES)})/")
# The headers that choose the folder of this build's architecture, and the lists of those that code
# is generated for.
CHOOSES = re.compile(
    r"^src/(?:base/arch/[^/]+\.h|simt/machine/targets/\w+\.cpp)$"
)
SOURCES = re.compile(r"^(src|dropin)/")
KERNELS = re.compile(r"^tests/kernels/.*\.cu$")

# rule, where else it may stand, what is looked for, what is said
WORDS = [
    ("machine", None,
     r"(?<![A-Za-z0-9])(?:avx|sse|neon|sve|evex)\d*(?:_\d)?(?![A-Za-z0-9])|\bIsa\b"
     r"|\bx86[-_]64[-_]v\d",
     "'%s' names an instruction set: ask simt/machine/machine.h what the machine can do"),
    ("architecture", CHOOSES,
     r"<\w*intrin\.h>|<cpuid\.h>|<arm_\w+\.h>|\b_mm\d*_\w+|\b__m(?:128|256|512)[di]?\b"
     r"|\b__(?:x86_64|i386|aarch64|arm)__\b|\b__(?:get_)?cpuid\w*|\b__rdtscp?\b"
     r"|\b__builtin_(?:ia32|cpu|arm|aarch64)_\w+|\b(?i:mxcsr|rdtsc|vzeroupper)\b"
     r"|\bREG_R[A-Z0-9]{1,2}\b|\bgregs\b|\b(?:EM|R)_(?:X86_64|AARCH64)\w*|\bIntrinsicsX86\b"
     r"|(?<![\w.\"])(?:asm|__asm|__asm__)\s*(?:volatile\s*|goto\s*)?\(|\bx86\w*"
     r"|(?<![\w.\"])(?:asm|__asm|__asm__)\s+volatile",
     "'%s' belongs to one architecture: src/base/arch has the way to say it"),
    ("architecture", re.compile(r"^src/simt/machine/"), r"\bInlineAsm\b",
     "'%s': simt/machine/instructions.h makes instructions that LLVM's language lacks"),
    ("architecture", None,
     r"\bk\w*Page\w*\s*=\s*(?:4096|4095)\b|(?i:page)\w*[^;\n]{0,40}\b(?:4096|4095|0xfff)\b"
     r"|\b(?:4096|4095|0xfff)\b[^;\n]{0,40}(?i:page)",
     "'%s': base/arch/constants.h has the sizes of pages"),
    ("architecture", re.compile(r"^src/base/arch/"),
     r"\bgnu::target\b|\btarget(?:_clones)?\s*\(\s*\"|\b(?:preserve_(?:all|most|none)"
     r"|no_caller_saved_registers|ms_abi|sysv_abi|vectorcall|regparm)\b",
     "'%s': code for one processor lies in its folder; base/arch/attributes.h has conventions"),
]

# Patterns in code without its strings: orders that one processor gives by itself, and times by its
# counter.
PORTABLE = [
    ("order", r"\bvolatile\b|\b__sync_\w+|\b__atomic_\w+\(\s*&|\bmemory_order_consume\b",
     "'%s' is no way to publish to other threads: a std::atomic with its order's name is"),
    ("times", r"\b\w*(?:[tT]icks|[cC]ycles)\w*(?:\(\))?\s*(?:[=+-]|[<>]=?|\{)\s*[1-9][\d'.eEF]*",
     "'%s' counts ticks, whose length the processor decides: say ticks_of_ns(NUMBER)"),
    ("times", r"\bk\w*(?:Timeout|Grace|Delay|Interval|Period)\s*=\s*\d[\d']*",
     "'%s' has no unit: its name ends in Ns, Us, Ms or S, or it is a std::chrono duration"),
]


def is_home(file: File) -> bool:
    return HOME.search(file.path) is not None


def words(file: File) -> list:
    found = []
    for rule, also, pattern, text in WORDS:
        if also and also.match(file.path):
            continue
        code = file.source.uncommented
        for match in re.finditer(pattern, code):
            line = code.count("\n", 0, match.start()) + 1
            found.append(Finding(rule, file.path, line, text % match[0].strip()))
    return found


def inner_includes(file: File) -> list:
    """Only the headers that choose it, and files beside them, include an architecture's."""
    return [
        Finding("architecture", file.path, line, f"{own} belongs to one architecture")
        for line, own, _ in includes(file)
        if own and HOME.search(own) and not CHOOSES.match(file.path)
    ]


def plain_chars(file: File) -> list:
    """Numbers of type char are signed on one architecture, and unsigned on another."""
    text = "'%s' is signed or unsigned, as the architecture has it: say which"
    return [
        Finding("architecture", file.path, file.source.uncommented.count("\n", 0, m.start()) + 1,
                text % m[0].strip())
        for m in re.finditer(r"(?<!signed )(?<!const )\bchar\b(?! ?\*)(?!\w)[^;,)\n]{0,20}",
                             file.source.uncommented)
    ]


def run(files: list) -> list:
    found = []
    for file in files:
        if KERNELS.match(file.path):
            found += plain_chars(file)
        if not SOURCES.match(file.path) or is_home(file) or file.is_generated:
            continue
        if file.suffix == ".S":
            text = f"assembly lies in a folder named {' or '.join(ARCHITECTURES)}"
            found.append(Finding("architecture", file.path, 1, text))
        elif file.is_code:
            found += words(file) + inner_includes(file)
            for rule, pattern, text in PORTABLE:
                if rule != "times" or not CHOOSES.match(file.path):
                    found += file.find(rule, pattern, text)
    return found
