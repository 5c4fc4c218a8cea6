"""Instructions out of PTX modules, rewritten to the names of context.py, each form once."""

import re

import context

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_STRING = re.compile(r'"[^"\n]*"')
_FUNCTION = re.compile(r"\.(?:entry|func)\b[^{;]*\{", re.S)
_REGISTER = re.compile(r"\.reg\s*((?:\.\w+\s*)+)([^;]+);")
_VARIABLE = re.compile(
    r"\.(global|shared|const|local|param)\b((?:\s*\.\w+(?:\s+\d+)?)*)\s+([\w$%]+)")
_NAME = re.compile(r"[%$A-Za-z_][\w$]*")
_GUARD = re.compile(r"@\s*!?\s*[%$\w]+\s*")


def _body(text, start):
    depth = 0
    for end in range(start, len(text)):
        depth += (text[end] == "{") - (text[end] == "}")
        if depth == 0:
            return text[start:end + 1]
    return text[start:]


def _registers(body):
    exact, prefix = {}, {}
    for match in _REGISTER.finditer(body):
        words = match.group(1).replace(".", " ").split()
        vector = words[0] if words[0] in ("v2", "v4") else None
        for name in match.group(2).split(","):
            name = name.strip()
            if "<" in name:
                prefix[name.split("<")[0]] = words[-1]
            else:
                exact[name] = vector + words[-1] if vector else words[-1]
    return exact, prefix


def _type_of(name, exact, prefix):
    if name in exact:
        return exact[name]
    for end in range(len(name) - 1, 0, -1):
        if not name[end].isdigit():
            break
        if name[:end] in prefix:
            return prefix[name[:end]]
    return None


class _Renamer:
    """Gives the names of one instruction their names in the context."""

    def __init__(self, exact, prefix, variables):
        self.exact, self.prefix, self.variables = exact, prefix, variables
        self.given, self.used = {}, {}

    def __call__(self, match):
        name = match.group(0)
        if match.start() > 0 and match.string[match.start() - 1] in ".0123456789":
            return name
        kind = _type_of(name, self.exact, self.prefix)
        if kind is None:
            return context.VARIABLES.get(self.variables.get(name), name)
        if name not in self.given:
            number = self.used[kind] = self.used.get(kind, 0) + 1
            known = kind in context.TYPES
            self.given[name] = context.register(kind, number) if known else "%" + kind
        return self.given[name]


def _statements(body):
    """Statements of a body, with braces of vectors kept."""
    inner = body.strip()[1:-1]
    for statement in inner.split(";"):
        statement = " ".join(statement.split())
        statement = re.sub(r"^(?:[{}]\s*)+", "", statement)
        statement = re.sub(r"^(?:[\w$]+\s*:\s*)+", "", statement)
        statement = re.sub(r"^(?:\.loc [\d ,\w$+]*?\s)?", "", statement)
        if statement and not statement.startswith("."):
            yield statement


def instructions(text):
    """All instructions of a module in the context's names, without guards, each once."""
    text = _STRING.sub('""', _COMMENT.sub(" ", text))
    outside = {match.group(3): match.group(1) for match in _VARIABLE.finditer(text)}
    found = {}
    for match in _FUNCTION.finditer(text):
        body = _body(text, match.end() - 1)
        exact, prefix = _registers(match.group(0).replace(")", ";").replace(",", ";") + body)
        for statement in _statements(body):
            statement = _GUARD.sub("", statement, count=1) if statement[0] == "@" else statement
            opcode = statement.split(".")[0].split()[0]
            if opcode == "call" or not re.fullmatch(r"[a-z]\w*", opcode):
                continue
            if opcode in ("bra", "brx"):
                continue
            line = _NAME.sub(_Renamer(exact, prefix, outside), statement) + ";"
            if opcode == "st":  # a kernel's parameters are read-only
                line = line.replace("[para", "[pv")
            found[line] = True
    return list(found)
