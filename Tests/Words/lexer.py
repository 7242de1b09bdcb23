"""Swift text as tokens: enough of the language to find declarations, doc comments and where bodies end."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Token:
    """A word, a number, a punctuation mark, a literal or a whole doc comment.

    `kind` is "word", "name" (in backticks, so never a keyword), "number", "mark", "literal" or "doc".
    """

    kind: str
    text: str
    line: int
    """The line of its first character."""
    touches: bool
    """No space stands before it."""


class SwiftSyntaxError(Exception):
    """A text that ends within a literal, a comment or a bracket."""


WORD = re.compile(r"[^\W\d]\w*|\$\w+")
NUMBER = re.compile(r"\d[\w]*(\.\d[\w]*)?")
STRING = re.compile(r'(#*)("""(?=[ \t]*\n)|")')
REGEX = re.compile(r"/(?![ \t/*])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\n\\])+/")
CLOSERS = {"(": ")", "[": "]", "{": "}"}


def tokens(text: str) -> list[Token]:
    """The tokens of a file; throws SwiftSyntaxError."""
    return _Lexer(text).run()


class _Lexer:
    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.line = 1
        self.found: list[Token] = []
        self.touches = False

    def run(self, closer: str | None = None) -> list[Token]:
        """Reads on to the end, or behind the bracket that closes what stands before."""
        depth = 0
        while self.at < len(self.text):
            character = self.text[self.at]
            if character.isspace():
                self._advance(1)
                self.touches = False
                continue
            if closer and character == closer and depth == 0:
                self._advance(1)
                return self.found
            if closer and character == "(":
                depth += 1
            elif closer and character == ")":
                depth -= 1
            self._token()
            self.touches = True
        if closer:
            raise SwiftSyntaxError(f"line {self.line}: a string ends within an interpolation")
        return self.found

    def _token(self) -> None:
        text, at = self.text, self.at
        if text.startswith("//", at):
            return self._line_comment()
        if text.startswith("/*", at):
            return self._block_comment()
        if string := STRING.match(text, at):
            return self._string(len(string[1]), string[2])
        if extended := re.compile(r"(#+)/").match(text, at):
            return self._extended_regex(extended[1])
        if text[at] == "/" and self._regex_may_begin() and (regex := REGEX.match(text, at)):
            return self._add("literal", regex[0])
        if text[at] == "`":
            end = text.index("`", at + 1)
            return self._add("name", text[at : end + 1])
        if word := WORD.match(text, at):
            return self._add("word", word[0])
        if number := NUMBER.match(text, at):
            return self._add("number", number[0])
        self._add("mark", "->" if text.startswith("->", at) else text[at])

    def _regex_may_begin(self) -> bool:
        """Whether a slash here begins a literal: behind a value it divides."""
        if not self.found or self.found[-1].kind == "doc":
            return True
        last = self.found[-1]
        if last.kind == "word":
            return last.text in {"return", "case", "in", "try", "await", "where", "else"}
        return last.kind == "mark" and last.text in "(,=:[{;&|!?~"

    def _add(self, kind: str, text: str) -> None:
        self.found.append(Token(kind, text, self.line, self.touches))
        self._advance(len(text))

    def _advance(self, count: int) -> None:
        self.line += self.text.count("\n", self.at, self.at + count)
        self.at += count

    def _line_comment(self) -> None:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        comment = self.text[self.at : end]
        if comment.startswith("///") and not comment.startswith("////"):
            self._doc(comment[3:])
        self.at = end

    def _doc(self, text: str) -> None:
        """Adds a line to the doc comment of the line before, or begins one."""
        if self.found and (last := self.found[-1]).kind == "doc" and last.line + last.text.count("\n") == self.line - 1:
            self.found[-1] = Token("doc", last.text + "\n" + text.strip(), last.line, last.touches)
        else:
            self.found.append(Token("doc", text.strip(), self.line, False))

    def _block_comment(self) -> None:
        start, line, depth, at = self.at, self.line, 0, self.at
        for mark in re.compile(r"/\*|\*/").finditer(self.text, at):
            depth += 1 if mark[0] == "/*" else -1
            if depth == 0:
                comment = self.text[start : mark.end()]
                self._advance(len(comment))
                if comment.startswith("/**") and len(comment) > 5:
                    lines = (part.strip().lstrip("*").strip() for part in comment[3:-2].strip().splitlines())
                    self.found.append(Token("doc", "\n".join(lines), line, False))
                return
        raise SwiftSyntaxError(f"line {line}: a comment has no end")

    def _extended_regex(self, hashes: str) -> None:
        end = self.text.find("/" + hashes, self.at + len(hashes) + 1)
        if end < 0:
            raise SwiftSyntaxError(f"line {self.line}: a regular expression has no end")
        self._add("literal", self.text[self.at : end + 1 + len(hashes)])

    def _string(self, hashes: int, quotes: str) -> None:
        start, line = self.at, self.line
        touches = self.touches
        end, escape = quotes + "#" * hashes, "\\" + "#" * hashes
        self._advance(hashes + len(quotes))
        while not self.text.startswith(end, self.at):
            if self.at >= len(self.text) or (quotes == '"' and self.text[self.at] == "\n"):
                raise SwiftSyntaxError(f"line {line}: a string has no end")
            if self.text.startswith(escape + "(", self.at):
                self._advance(len(escape) + 1)
                outer, self.found = self.found, []
                self.run(closer=")")
                self.found = outer
            elif self.text.startswith(escape, self.at):
                self._advance(len(escape) + 1)
            else:
                self._advance(1)
        self._advance(len(end))
        self.found.append(Token("literal", self.text[start : self.at], line, touches))


def closing(found: list[Token], opening: int) -> int:
    """The index of the bracket that closes the one at `opening`; throws SwiftSyntaxError."""
    waiting: list[str] = []
    for index in range(opening, len(found)):
        if found[index].kind != "mark":
            continue
        text = found[index].text
        if text in CLOSERS:
            waiting.append(CLOSERS[text])
        elif waiting and text == waiting[-1]:
            waiting.pop()
            if not waiting:
                return index
    raise SwiftSyntaxError(f"line {found[opening].line}: “{found[opening].text}” is not closed")
