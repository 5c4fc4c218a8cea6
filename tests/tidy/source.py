"""Reads C and C++ just well enough to tell code from comments and functions from the rest."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

# Comments, literals and numbers with ticks may hold characters that mean something else in code.
QUOTED = re.compile(
    r"""
      (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
    | (?P<raw>(?<!\w)(?:u8|[uUL])?R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)")
    | (?P<string>"(?:\\.|[^"\\\n])*")
    | (?P<number>[0-9][0-9a-fA-F]*'[0-9a-fA-F'.]*)
    | (?P<char>'(?:\\.|[^'\\\n])+')
    """,
    re.X | re.S,
)
# The words, numbers, literals and symbols of a line whose literals are blanked.
TOKEN = re.compile(
    r"""
      (?:u8|[uUL])?"[^"]*"
    | (?:u8|[uUL])?'[^']+'
    | \.?[0-9](?:'?[0-9a-zA-Z_.]|[eEpP][+-])*
    | [A-Za-z_]\w*
    | -> | :: | \S
    """,
    re.X,
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.M)


def blank(text: str) -> str:
    """The same text with everything but its line breaks made blank."""
    return re.sub(r"[^\n]", " ", text)


class Token(NamedTuple):
    text: str
    line: int


@dataclass
class Function:
    name: str
    first_line: int
    last_line: int = 0
    nesting: int = 0
    nesting_line: int = 0

    @property
    def lines(self) -> int:
        return self.last_line - self.first_line + 1


@dataclass
class Source:
    """`code` is the text with comments, strings and preprocessor lines blanked."""

    text: str
    code: str = ""
    uncommented: str = ""  # the text with its comments blanked
    tokens: list = field(default_factory=list)

    def __post_init__(self):
        uncommented, code, end = [], [], 0
        for match in QUOTED.finditer(self.text):
            before, end = self.text[end : match.start()], match.end()
            is_comment = match["comment"] is not None
            uncommented += before, blank(match[0]) if is_comment else match[0]
            code += before, without_literal(match)
        rest = self.text[end:]
        self.uncommented = "".join(uncommented) + rest
        self.code = DIRECTIVE.sub(lambda m: blank(m[0]), "".join(code) + rest)
        self.tokens = [
            Token(text, number)
            for number, line in enumerate(self.code.split("\n"), 1)
            for text in TOKEN.findall(line)
        ]

    def functions(self) -> list:
        return FunctionFinder(self.tokens).run()


def without_literal(match) -> str:
    """Comments vanish; literals leave their quotes, so that `extern "C" {` stays readable."""
    text = match[0]
    if match["number"] is not None:
        return text
    if match["comment"] is not None or len(text) < 2:
        return blank(text)
    quote = "'" if match["char"] is not None else '"'
    return quote + blank(text)[1:-1] + quote


TYPE_WORDS = {"class", "struct", "union", "enum"}
QUALIFIERS = {"const", "noexcept", "override", "final", "mutable", "volatile", "&", "&&"}
LABELS = {"public", "private", "protected", "case", "default"}


@dataclass
class Scope:
    kind: str  # namespace, type, function, block or initialiser
    header: list  # the statement that goes on after the closing brace
    parens: int


class FunctionFinder:
    """Walks the braces and tells by what stands before each what it opens."""

    def __init__(self, tokens: list):
        self.tokens = tokens
        self.scopes = []
        self.header = []  # texts of the statement so far
        self.header_line = 0
        self.parens = 0
        self.current = None
        self.found = []

    def run(self) -> list:
        for token in self.tokens:
            if token.text == "{":
                self.open(token)
            elif token.text == "}":
                self.close(token)
            else:
                self.other(token)
        return self.found

    def other(self, token: Token):
        if token.text == ";" and self.parens == 0:
            self.header = []
            return
        if token.text == ":" and LABELS & set(self.header[:1]) and "?" not in self.header:
            self.header = []
            return
        self.parens += {"(": 1, ")": -1}.get(token.text, 0)
        if not self.header:
            self.header_line = token.line
        self.header.append(token.text)

    def open(self, token: Token):
        kind = self.kind_of_brace()
        if kind == "function":
            self.current = Function(self.name(), self.header_line)
        elif kind == "block":
            depth = 1 + sum(scope.kind == "block" for scope in self.scopes)
            if depth > self.current.nesting:
                self.current.nesting, self.current.nesting_line = depth, token.line
        goes_on = kind == "initialiser" or self.parens > 0
        self.scopes.append(Scope(kind, self.header if goes_on else [], self.parens))
        self.header, self.parens = [], 0

    def close(self, token: Token):
        if not self.scopes:
            return
        scope = self.scopes.pop()
        self.header, self.parens = scope.header, scope.parens
        if self.header:
            self.header.append("}")
        if scope.kind == "function":
            self.current.last_line = token.line
            self.found.append(self.current)
            self.current = None

    def name(self) -> str:
        before = self.header[: self.header.index("(")] if "(" in self.header else []
        return before[-1] if before else "lambda"

    def kind_of_brace(self) -> str:
        header = self.header
        if self.current:
            return self.kind_inside_function()
        if "namespace" in header or header[:1] == ["extern"] and len(header) == 2:
            return "namespace"
        if self.ends_like_function():
            is_value = "=" in header and "operator" not in header and "[" not in header
            return "initialiser" if is_value else "function"
        if TYPE_WORDS & set(header) and "=" not in header:
            return "type"
        return "initialiser"

    def kind_inside_function(self) -> str:
        header = self.header
        if not header or header[-1] in ("else", "do", "try", "]"):
            return "block"
        if TYPE_WORDS & set(header[:2]) and "(" not in header and "=" not in header:
            return "type"
        return "block" if self.ends_like_function() else "initialiser"

    def ends_like_function(self) -> bool:
        """`f(...)`, with qualifiers, a trailing return type or a constructor's initialisers."""
        rest = list(self.header)
        while rest and rest[-1] in QUALIFIERS:
            rest.pop()
        if not rest:
            return False
        pairs = list(zip(rest, rest[1:]))
        if rest[-1] == "}":
            return (")", ":") in pairs
        return rest[-1] == ")" or (")", "->") in pairs or ("]", "->") in pairs
