"""Why some lines are taken by one side only: the table of docs/reports/ptxas.md."""

import re

# Their operands are looked at when a kernel runs, as far as the manual leaves it open.
_CHECKED_LATER = {"wmma", "tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep",
                  "tensormap", "multimem", "wgmma", "tcgen05"}
_SPECIAL = re.compile(r"%(?:tid|ntid|laneid|warpid|ctaid|smid|gridid|clock\w*|pm\d|envreg\d+"
                      r"|lanemask_\w+|globaltimer\w*|\w+_smem_size|reserved_smem_offset_\w+"
                      r"|\w*cluster\w*)\b")
_IN_BRACES = re.compile(r"\{[^}]*,[^}]*\}")


def _opcode(line):
    return line.split()[0].split(".")[0].rstrip(";")


def _is_tensor_copy(line):
    return _opcode(line) == "cp" and (".tensor" in line or ".reduce" in line or ".cp_mask" in line)


def _crashes(_version, _target, _line, refusal, _answer):
    return any(text in refusal for text in ("crashed", "did not end", "Internal compiler error"))


def _checked_later(_version, _target, line, refusal, _answer):
    return bool(refusal) and (_opcode(line) in _CHECKED_LATER or _is_tensor_copy(line))


def _special_register(_version, _target, line, refusal, _answer):
    return not refusal and _SPECIAL.search(line) is not None


def _vector_element(_version, _target, line, refusal, _answer):
    return not refusal and _IN_BRACES.search(line) is not None


def _name_as_value(_version, _target, line, refusal, _answer):
    names = re.search(r"\b(?:nothing|tex0|pa|ptr|cons|loca|shar|glob|pv|para)\b", line)
    return not refusal and names is not None and _opcode(line) not in ("ld", "st")


def _function_address(_version, _target, line, refusal, _answer):
    return not refusal and "nothing" in line


def _sum_of_float(_version, _target, line, refusal, answer):
    return not refusal and "can be added to here" in answer


def _wrong_sum_type(_version, _target, line, refusal, _answer):
    return not refusal and re.search(r"%\w+\+-?\d", line) is not None


def _order(_version, _target, line, refusal, _answer):
    refusals = ("Unknown modifier", "Unexpected instruction types", "Not a name of any known")
    late_async = re.match(r"(?:st|red)\.(?!async)\S*\.async", line) is not None
    return any(text in refusal for text in refusals) or (bool(refusal) and late_async) or \
        line.startswith(("barrier.wait.cluster", "barrier.arrive.cluster"))


def _literal(_version, _target, line, refusal, _answer):
    refused = "Parsing error" in refusal or "Constant expression type mismatch" in refusal
    if "async" in line and re.search(r"%\w+\+-?\d", line):
        return refused  # a sum as the value of st.async and red.async
    return refused and re.search(r"0[fFdD][\da-fA-F]{8}|\d\.\d", line) is not None


def _braces(_version, _target, line, refusal, _answer):
    return not refusal and re.search(r"\{\s*[^,{}]+\}", line) is not None


def _byte_index(_version, _target, line, refusal, answer):
    return not refusal and "an index must be" in answer


def _fence_words(_version, _target, line, refusal, _answer):
    return not refusal and _opcode(line) in ("fence", "st", "red", "cp") and \
        ("async" in line or "sync_restrict" in line)


def _special_version(_version, _target, line, refusal, _answer):
    return "requires" in refusal and _SPECIAL.search(line) is not None


def _special_in_conversion(_version, _target, _line, refusal, _answer):
    return "Special register argument not allowed" in refusal


def _memory_operands(_version, _target, line, refusal, _answer):
    refusals = ("Arguments mismatch", "State space mismatch", "Illegal state space",
                "32-bit address", "Vector expected", "without '.noComplete'",
                "Vector operand is not allowed", "Immediate addresses allowed", "out of range",
                "must be register")
    opcodes = ("mbarrier", "cp", "red", "st", "prefetchu", "mma", "match", "dp4a")
    return _opcode(line) in opcodes and any(text in refusal for text in refusals)


def _constant_predicate(_version, _target, line, refusal, _answer):
    return "Arguments mismatch" in refusal and _opcode(line) in ("selp", "mov")


def _index_after_sum(_version, _target, line, refusal, _answer):
    return bool(refusal) and "pv+0" in line


def _negated_result(_version, _target, _line, refusal, _answer):
    return "Result register required" in refusal


def _unused_predicate(_version, _target, line, refusal, _answer):
    return not refusal and line.startswith(("atom.global.", "atom.shared."))


def _halves(_version, _target, line, refusal, _answer):
    return not refusal and "f16x2" in line


def _later_pieces(_version, _target, line, refusal, _answer):
    return bool(refusal) and (_opcode(line) in ("createpolicy", "mapa", "stmatrix", "ldmatrix") or
                              line.startswith(("v", "vote.sync.ballot")))


REASONS = (
    ("ptxas crashes or does not end", _crashes),
    ("operands of textures, surfaces, tensor maps, multimem, wmma, wgmma, tcgen05: "
     "checked less here",
     _checked_later),
    ("ptxas takes special registers in places where the manual has none", _special_register),
    ("ptxas looks at the type of a vector's first element only", _vector_element),
    ("ptxas takes the name of a variable or function as a number", _name_as_value),
    ("ptxas takes the name of a function as a number", _function_address),
    ("ptxas takes braces around one register of more instructions", _braces),
    ("ptxas takes a constant added to a float or a byte", _sum_of_float),
    ("ptxas does not look at the type of a sum", _wrong_sum_type),
    ("ptxas takes bytes as indices and bases", _byte_index),
    ("order of modifiers: we take any", _order),
    ("signs and sums of float constants: we take them", _literal),
    ("words of fences and asynchronous stores", _fence_words),
    ("versions of special registers: we take them in all", _special_version),
    ("ptxas takes registers of two halves as others", _halves),
    ("ptxas refuses special registers in cvt: we take them", _special_in_conversion),
    ("operands of mbarrier, asynchronous copies, mma, match, dp4a: checked less here",
     _memory_operands),
    ("float constants as predicates, other sources of mov: we take them", _constant_predicate),
    ("an index after a sum of a parameter: we take it", _index_after_sum),
    ("a negated result: we take it as its register", _negated_result),
    ("ptxas takes a fourth operand of bit operations on memory", _unused_predicate),
    ("operands of createpolicy, mapa, stmatrix, video instructions: checked less here",
     _later_pieces),
)


def reason(version, target, line, refusal, answer):
    """The reason of a difference, None if there is none."""
    for name, applies in REASONS:
        if applies(version, target, line, refusal or "", answer):
            return name
    return None
