"""The surroundings that every compared line has: registers of each type, variables in each space,
functions, labels. Instructions from anywhere are rewritten to these names."""

import re

TYPES = ("pred", "b8", "u8", "s8", "b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "f16x2",
         "b64", "u64", "s64", "f64", "b128")
VARIABLES = {"global": "glob", "shared": "shar", "const": "cons", "local": "loca",
             "param": "para"}
FUNCTIONS = """.func nothing() { ret; }
.func (.param .b32 r) one(.param .b32 a) {
  .reg .b32 x; ld.param.b32 x, [a]; st.param.b32 [r], x; ret; }
.func (.param .b64 r) wide(.param .b64 a, .param .b32 b) {
  .reg .b64 x; ld.param.b64 x, [a]; st.param.b64 [r], x; ret; }
.func (.reg .b32 r) fast(.reg .b32 a) { mov.b32 r, a; ret; }
"""
MODULE = """.global .align 16 .b32 glob[64];
.shared .align 16 .b32 shar[64];
.const .align 16 .b32 cons[64];
.global .texref tex0;
.global .surfref surf0;
""" + FUNCTIONS


def register(kind, number):
    """The name of a register of the context."""
    return f"%{kind}_{number}"


_KIND = re.compile(r"%([a-z]\w*?)_\d")


def _declarations(kinds, line):
    used = set(_KIND.findall(line))  # only these: ptxas reads a declaration as slowly as a line
    parts = [f".reg .{kind} %{kind}_<9>;" for kind in kinds if kind in used]
    parts.append(".reg .v2 .b32 %v2b32; .reg .v4 .f32 %v4f32; .reg .v2 .b64 %v2b64;")
    parts.append(".local .align 16 .b32 loca[64]; .param .b32 pa; .param .b64 pb; "
                 ".param .align 16 .b8 pv[64];")
    return " ".join(parts)


class Setting:
    """Version and target of the modules that lines are put into."""

    def __init__(self, version="8.8", target="sm_90a"):
        self.version = version
        self.target = target

    def header(self):
        """What stands before everything else."""
        return f".version {self.version}\n.target {self.target}\n.address_size 64\n"

    def declarations(self, line):
        """What stands at the head of the kernel of a line."""
        version = tuple(map(int, self.version.split(".")))
        number = int("".join(filter(str.isdigit, self.target)))
        unknown = {"b128"} if version < (8, 3) or number < 70 else set()
        if number < 53:
            unknown |= {"f16", "f16x2"}
        return _declarations([kind for kind in TYPES if kind not in unknown], line)

    def targets(self):
        """A list of branch targets, which is as new as PTX 6.0."""
        return "T1: .branchtargets L1; " if int(self.version.split(".")[0]) >= 6 else ""

    def wrap(self, lines):
        """One module with a kernel for each line, and the number of the line of each."""
        text = [self.header() + MODULE]
        number = text[0].count("\n")
        at = []
        for i, line in enumerate(lines):
            declarations = self.declarations(line)
            text.append(f".visible .entry k{i}(.param .u64 ptr, .param .align 16 .b8 para[256]) "
                        f"{{ {declarations}\n{line}\nL1: ret; {self.targets()}}}\n")
            at.append(number + 2)
            number += 3
        return "".join(text), at


class Modules:
    """Declarations at module level, which share a module only if their names differ."""

    def __init__(self, setting):
        self.setting = setting

    def wrap(self, pieces):
        """One module of all pieces; `@` in a piece stands for its number."""
        text = [self.setting.header()]
        at = []
        for i, piece in enumerate(pieces):
            text.append(piece.replace("@", str(i)) + "\n")
            at.append(4 + i)
        return "".join(text), at
