"""Changes to one instruction: its modifiers, types, operands, counts, spaces and constants."""

import re

import context

TYPES = ("b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64",
         "f16", "bf16", "f32", "f64", "f16x2", "bf16x2", "u16x2", "s16x2", "tf32", "e4m3", "e5m2",
         "e4m3x2", "e5m2x2", "pred")
SPACES = ("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param")
WORDS = ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "satfinite", "relu",
         "approx", "full", "lo", "hi", "wide", "cc", "v2", "v4", "v8", "volatile", "relaxed",
         "acquire", "release", "acq_rel", "weak", "cta", "cluster", "gpu", "sys", "gl", "ca", "cg",
         "cs", "cv", "lu", "wb", "wt", "nc", "uni", "sync", "aligned", "eq", "ne", "lt", "le", "gt",
         "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
         "and", "or", "xor", "add", "min", "max", "inc", "dec", "exch", "cas", "popc", "NaN",
         "xorsign", "abs", "noftz", "clamp", "wrap", "l", "r", "to", "all", "any", "ballot", "up",
         "down", "bfly", "idx", "x1", "x2", "x4", "trans", "row", "col", "b4e", "f4e", "rc8", "ecl",
         "L1::no_allocate", "L1::evict_last", "L2::128B", "L2::cache_hint", "unified", "async")
CONSTANTS = ("0", "1", "-1", "4", "5", "15", "16", "31", "32", "33", "64", "255", "256", "1023",
             "65535", "65536", "0x7fffffff", "0x80000000", "0xffffffff", "0x100000000",
             "0xffffffffffffffff", "-2147483648", "-32769", "1.0", "0f3F800000",
             "0d3FF0000000000000", "-1.5", "1+2", "(3)", "~0", "!0", "WARP_SZ", "1U", "0b11", "017",
             "1?2:3", "7/2", "7/0", "1<<3", "1==1")
NAMES = ("glob", "shar", "cons", "loca", "para", "ptr", "pa", "nothing", "tex0", "L1", "%tid.x",
         "%laneid", "%clock64", "%tid", "%ctaid.y", "%nosuch", "nosuch", "_", "%envreg3",
         "%lanemask_lt", "%globaltimer", "%warpid", "%gridid", "%pm0", "%dynamic_smem_size")
SHAPES = ("{{{0}}}", "{{{0}, {0}}}", "{{{0}, {0}, {0}, {0}}}", "!{0}", "-{0}", "[{0}]", "[{0}+4]",
          "[{0}+-4]", "[{0}-4]", "[{0}+0]", "{0}+1", "{0}-1", "{0}|%pred_8", "({0})", "~{0}",
          "{0}.x", "{0}.b0", "[{0}, {0}]", "[{0}], {0}", "{0}, {0}", "*{0}", "{0}[1]", "{{{0}, _}}")
_REGISTER = re.compile(r"%(" + "|".join(sorted(context.TYPES, key=len, reverse=True)) + r")_(\d+)")
_NUMBER = re.compile(r"(?<![\w%$.:])-?"
                     r"(?:0[xX][\da-fA-F]+U?|0[fFdD][\da-fA-F]+|\d+(?:\.\d+)?)(?![\w:])")


def split(line):
    """Opcode, modifiers and operands of an instruction."""
    head, _, rest = line.rstrip("; ").partition(" ")
    words = head.split(".")
    operands, depth, start = [], 0, 0
    for i, sign in enumerate(rest):
        depth += (sign in "[{(") - (sign in "]})")
        if sign == "," and depth == 0:
            operands.append(rest[start:i].strip())
            start = i + 1
    if rest.strip():
        operands.append(rest[start:].strip())
    return words[0], words[1:], operands


def join(opcode, modifiers, operands):
    """The reverse of split()."""
    return ".".join([opcode, *modifiers]) + (" " + ", ".join(operands) if operands else "") + ";"


class Mutator:
    """Makes changed lines; `random` decides which."""

    def __init__(self, random):
        self.random = random
        self.kinds = (self._modifier, self._modifier, self._type, self._type, self._register,
                      self._register, self._operand, self._operand, self._count, self._space,
                      self._constant, self._name, self._shape, self._shape)

    def change(self, line):
        """The line with one change, now and then two."""
        result = self._once(line)
        return self._once(result) if self.random.random() < 0.15 else result

    def _once(self, line):
        opcode, modifiers, operands = split(line)
        modifiers, operands = list(modifiers), list(operands)
        self.random.choice(self.kinds)(modifiers, operands)
        return join(opcode, modifiers, operands)

    def _modifier(self, modifiers, _):
        at = self.random.randrange(len(modifiers) + 1)
        way = self.random.randrange(4)
        if way == 0 or not modifiers:
            modifiers.insert(at, self.random.choice(WORDS))
            return
        at = min(at, len(modifiers) - 1)
        if way == 1:
            del modifiers[at]
        elif way == 2:
            modifiers[at] = self.random.choice(WORDS)
        else:
            other = self.random.randrange(len(modifiers))
            modifiers[at], modifiers[other] = modifiers[other], modifiers[at]

    def _type(self, modifiers, _):
        places = [i for i, word in enumerate(modifiers) if word in TYPES]
        if places:
            modifiers[self.random.choice(places)] = self.random.choice(TYPES)

    def _space(self, modifiers, _):
        places = [i for i, word in enumerate(modifiers) if word in SPACES]
        if places:
            at = self.random.choice(places)
            modifiers[at:at + 1] = [self.random.choice(SPACES)] if self.random.random() < .8 else []
        else:
            at = self.random.randrange(len(modifiers) + 1)
            modifiers.insert(at, self.random.choice(SPACES))

    def _register(self, _, operands):
        places = [i for i, operand in enumerate(operands) if _REGISTER.search(operand)]
        if not places:
            return
        at = self.random.choice(places)
        fresh = context.register(self.random.choice(context.TYPES), self.random.randrange(9))
        match = self.random.choice(list(_REGISTER.finditer(operands[at])))
        operands[at] = operands[at][:match.start()] + fresh + operands[at][match.end():]

    def _operand(self, _, operands):
        if not operands:
            return
        at = self.random.randrange(len(operands))
        way = self.random.randrange(5)
        if way == 0:
            other = self.random.randrange(len(operands))
            operands[at], operands[other] = operands[other], operands[at]
        elif way == 1:
            operands[at] = self.random.choice(NAMES)
        elif way == 2:
            operands[at] = self.random.choice(CONSTANTS)
        else:
            kind = self.random.choice(context.TYPES)
            operands[at] = context.register(kind, self.random.randrange(9))

    def _count(self, _, operands):
        at = self.random.randrange(len(operands) + 1)
        if operands and self.random.random() < 0.5:
            del operands[min(at, len(operands) - 1)]
        else:
            copy = self.random.choice(operands) if operands else "1"
            operands.insert(at, copy)

    def _constant(self, _, operands):
        places = [i for i, operand in enumerate(operands) if _NUMBER.search(operand)]
        if places:
            at = self.random.choice(places)
            fresh = self.random.choice(CONSTANTS)
            operands[at] = _NUMBER.sub(lambda match: fresh, operands[at], count=1)
        else:
            self._operand(None, operands)

    def _name(self, _, operands):
        places = [i for i, operand in enumerate(operands) if _REGISTER.search(operand)]
        if places:
            at = self.random.choice(places)
            fresh = self.random.choice(NAMES)
            operands[at] = _REGISTER.sub(lambda match: fresh, operands[at], count=1)

    def _shape(self, _, operands):
        if operands:
            at = self.random.randrange(len(operands))
            bare = operands[at].strip("[]{}") or "0"
            operands[at] = self.random.choice(SHAPES).format(bare)
