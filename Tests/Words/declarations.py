"""The declarations of a Swift file, with what the measures ask for."""

from dataclasses import dataclass, field

from lexer import SwiftSyntaxError, Token, closing, tokens

TYPES = {"struct", "class", "enum", "actor", "protocol", "extension"}
FUNCTIONS = {"func", "init", "subscript", "deinit"}
ACCESS = {"public", "open", "package", "internal", "fileprivate", "private"}
MODIFIERS = ACCESS | {
    "static", "final", "override", "required", "convenience", "mutating", "nonmutating", "consuming", "borrowing",
    "lazy", "weak", "unowned", "nonisolated", "isolated", "dynamic", "indirect", "optional", "prefix", "postfix",
    "infix", "distributed",
}


@dataclass(frozen=True)
class Parameter:
    label: str | None
    """None where a call writes no label."""
    name: str


@dataclass
class Declaration:
    kind: str
    name: str
    line: int
    """Where it begins, behind its doc comment and attributes."""
    access: str | None
    """The modifier that is written, if one is."""
    modifiers: frozenset[str]
    documented: bool
    parameters: list[Parameter] = field(default_factory=list)
    last_line: int | None = None
    """Where its body ends; None for what has no body."""

    @property
    def lines(self) -> int | None:
        return None if self.last_line is None else self.last_line - self.line + 1

    @property
    def unlabelled_run(self) -> int:
        """The longest row of parameters without labels."""
        longest = run = 0
        for parameter in self.parameters:
            run = run + 1 if parameter.label is None else 0
            longest = max(longest, run)
        return longest


@dataclass
class SwiftFile:
    declarations: list[Declaration]
    doc_comments: list[Token]


def read(text: str) -> SwiftFile:
    """The declarations and doc comments of a file; throws SwiftSyntaxError."""
    found = tokens(text)
    return SwiftFile(_Reader(found).run(), [token for token in found if token.kind == "doc"])


class _Reader:
    """One walk over the tokens; `scopes` says in what the walk stands."""

    def __init__(self, found: list[Token]):
        self.found = found
        self.result: list[Declaration] = []
        self.scopes: list[str] = []
        self.bodies: dict[int, str] = {}
        self._forget()

    def _forget(self) -> None:
        self.first_line: int | None = None
        self.modifiers: set[str] = set()
        self.documented = False

    def run(self) -> list[Declaration]:
        index = 0
        while index < len(self.found):
            index = self._step(index)
        return self.result

    def _step(self, index: int) -> int:
        token = self.found[index]
        if token.kind == "doc":
            self._forget()
            self.documented = True
            return index + 1
        if token.kind == "mark" and token.text == "@":
            return self._behind_attribute(index)
        if token.kind == "word" and self._is_modifier(index):
            return self._behind_modifier(index)
        if token.kind == "word" and self._declares(index):
            following = self._declaration(index)
            self._forget()
            return following
        self._forget()
        if token.kind == "mark" and token.text == "{":
            self.scopes.append(self.bodies.get(index, "code"))
        elif token.kind == "mark" and token.text == "}" and self.scopes:
            self.scopes.pop()
        return index + 1

    def _text(self, index: int) -> str:
        """The mark or word at an index; empty for anything else and behind the end."""
        if 0 <= index < len(self.found) and self.found[index].kind in ("word", "mark"):
            return self.found[index].text
        return ""

    @property
    def _scope(self) -> str:
        return self.scopes[-1] if self.scopes else "file"

    def _behind_attribute(self, index: int) -> int:
        following = index + 2
        while self._text(following) == ".":
            following += 2
        if self._text(following) == "(" and self.found[following].touches:
            following = closing(self.found, following) + 1
        return following

    def _is_modifier(self, index: int) -> bool:
        text = self.found[index].text
        if text == "class":
            return self._text(index + 1) in {"func", "var", "let", "subscript"} | MODIFIERS
        if text not in MODIFIERS or self._text(index - 1) == ".":
            return False
        # A property may be called like a modifier that is no keyword of its own.
        return self._text(index + 1) not in {"", "=", ".", ":", ",", ")", "]", "?", "!", "+", "-", "}", "{", "&", "|"}

    def _behind_modifier(self, index: int) -> int:
        token = self.found[index]
        if self.first_line is None:
            self.first_line = token.line
        if self._text(index + 1) == "(":
            return closing(self.found, index + 1) + 1  # private(set), nonisolated(unsafe)
        self.modifiers.add(token.text)
        return index + 1

    def _declares(self, index: int) -> bool:
        text = self.found[index].text
        if self._text(index - 1) == ".":
            return False
        if text == "func":
            return self._text(index + 1) not in {":", ",", ")"}
        if text in ("init", "deinit", "subscript"):
            return self._scope in ("type", "protocol")
        if text in ("var", "let", "typealias", "associatedtype"):
            return self._scope in ("type", "protocol", "file")
        if text == "actor":
            return index + 1 < len(self.found) and self.found[index + 1].kind in ("word", "name") \
                and self._text(index + 2) in {"{", ":", "<", "where"}
        # The others can be labels of arguments, as in f(class: A.self).
        return text in TYPES and index + 1 < len(self.found) and self.found[index + 1].kind in ("word", "name")

    def _declaration(self, index: int) -> int:
        keyword = self.found[index]
        kind = keyword.text
        name = self._name(index) if kind not in ("init", "deinit", "subscript") else kind
        declaration = Declaration(
            kind=kind, name=name.strip("`"), line=self.first_line or keyword.line,
            access=next(iter(self.modifiers & ACCESS), None), modifiers=frozenset(self.modifiers),
            documented=self.documented)
        self.result.append(declaration)
        if kind in TYPES:
            body = self._next_brace(index + 1)
            self.bodies[body] = "protocol" if kind == "protocol" else "type"
            return body
        if kind in FUNCTIONS:
            return self._function(declaration, index)
        return index + 1

    def _name(self, index: int) -> str:
        """The word behind a keyword, or the marks of an operator."""
        name = self.found[index + 1].text
        if self.found[index + 1].kind == "mark":
            following = index + 2
            while self._text(following) != "(" and self.found[following].touches:
                name += self.found[following].text
                following += 1
        return name

    def _function(self, declaration: Declaration, index: int) -> int:
        following = index + 1
        if declaration.kind != "deinit":
            opening = self._parameters_begin(index + 1)
            end = closing(self.found, opening)
            declaration.parameters = self._parameters(opening + 1, end, declaration.kind)
            following = end + 1
        if self._scope == "protocol":
            return following
        body = self._next_brace(following)
        declaration.last_line = self.found[closing(self.found, body)].line
        return body

    def _parameters_begin(self, index: int) -> int:
        """The bracket behind a function's name and its generic parameters, which may hold brackets themselves."""
        depth = 0
        while index < len(self.found):
            text = self._text(index)
            if text == "<" and self.found[index].touches and self.found[index - 1].kind in ("word", "name"):
                depth += 1
            elif text == ">" and depth:
                depth -= 1
            elif text == "(":
                if depth == 0:
                    return index
                index = closing(self.found, index)
            index += 1
        raise SwiftSyntaxError("a function has no parameters")

    def _next_brace(self, index: int) -> int:
        while index < len(self.found):
            if self._text(index) == "{":
                return index
            index = closing(self.found, index) + 1 if self._text(index) in ("(", "[") else index + 1
        raise SwiftSyntaxError("a declaration has no body")

    def _parameters(self, start: int, end: int, kind: str) -> list[Parameter]:
        parameters, index = [], start
        while index < end:
            names = []
            while index < end and self._text(index) != ":":
                if self._text(index) == "@":
                    index = self._behind_attribute(index)
                    continue
                if self.found[index].kind in ("word", "name"):
                    names.append(self.found[index].text.strip("`"))
                index += 1
            index = self._behind_type(index, end)
            if names:
                label = names[0] if kind != "subscript" or len(names) > 1 else "_"
                parameters.append(Parameter(None if label == "_" else label, names[-1]))
        return parameters

    def _behind_type(self, index: int, end: int) -> int:
        """The index behind the comma that ends a parameter's type and default value."""
        angles = 0
        while index < end:
            text = self._text(index)
            if text in ("(", "[", "{"):
                index = closing(self.found, index)
            elif text == "<" and self.found[index].touches and self.found[index - 1].kind in ("word", "name"):
                angles += 1
            elif text == ">" and angles:
                angles -= 1
            elif text == "," and angles == 0:
                return index + 1
            index += 1
        return end
