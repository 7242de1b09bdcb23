"""What is counted of the sources, and the bars that it is held against."""

import math
import re
import statistics
from dataclasses import dataclass, replace
from pathlib import Path

from declarations import Declaration, SwiftFile, read
from lexer import SwiftSyntaxError

TYPES_AND_FUNCTIONS = {"struct", "class", "enum", "actor", "protocol", "typealias", "func", "subscript"}
PROPERTIES_AND_INITIALISERS = {"var", "let", "init"}
SHOWN = {"package", "public", "open"}
STANDARD = {"==", "<", "~=", "hash", "description", "debugDescription"}
"""What protocols of the standard library ask for; their own documentation says what it does."""
QUESTION_WORDS = {"What", "Whether", "Who", "How", "Where", "Why", "When", "Which"}
SOURCES_ALONE = {"undocumented", "undocumented-values", "root-files"}
"""What says nothing of tests, which no other target uses."""
LONGEST_FUNCTION = 60
MOST_PARAMETERS = 8


@dataclass(frozen=True)
class Place:
    file: str
    line: int
    words: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.words}"


@dataclass(frozen=True)
class Measure:
    name: str
    """What the file of ceilings calls it."""
    title: str
    value: float
    bar: float
    """The greatest value that is wanted in the end."""
    unit: str = ""
    detail: str = ""
    places: tuple[Place, ...] = ()
    """What counts against the bar."""

    def limit(self, ceilings: dict[str, float]) -> float:
        """What it may be today: the bar, or more where the ceiling is higher."""
        return max(self.bar, ceilings.get(self.name, self.bar))


def swift_files(root: Path, folder: str) -> dict[str, SwiftFile]:
    """Every Swift file below a folder, by its path from the root; throws SwiftSyntaxError."""
    found = {}
    for file in sorted((root / folder).rglob("*.swift")):
        name = str(file.relative_to(root))
        try:
            found[name] = read(file.read_text(encoding="utf-8"))
        except SwiftSyntaxError as error:
            raise SwiftSyntaxError(f"{name}: {error}") from error
    return found


def all_measures(root: Path) -> list[Measure]:
    """The measures of the sources, and those of the tests, whose names begin with “tests-”."""
    of_tests = measures(swift_files(root, "Tests"))
    return measures(swift_files(root, "Sources")) + [
        replace(item, name=f"tests-{item.name}", title=f"in tests: {item.title}")
        for item in of_tests if item.name not in SOURCES_ALONE
    ]


def measures(files: dict[str, SwiftFile]) -> list[Measure]:
    """Every measure over these files."""
    return [
        *function_lengths(files), unlabelled_parameters(files), question_comments(files), *undocumented(files),
        long_initialisers(files), root_files(files),
    ]


def function_lengths(files: dict[str, SwiftFile]) -> list[Measure]:
    """Lines from the first of the signature to the closing brace, of everything that has a body and a name."""
    functions = [
        (file, function) for file, function in _declarations(files, {"func", "init", "subscript", "deinit"})
        if function.lines is not None
    ]
    lengths = [function.lines for _, function in functions]
    longest = sorted(functions, key=lambda pair: -pair[1].lines)
    return [
        Measure(
            "function-median", "lines of a function, median", statistics.median(lengths) if lengths else 0, 7,
            detail=f"of {len(lengths)} functions"),
        Measure(
            "function-longest", "lines of the longest function", max(lengths, default=0), LONGEST_FUNCTION),
        Measure(
            "function-over", f"functions of more than {LONGEST_FUNCTION} lines",
            sum(length > LONGEST_FUNCTION for length in lengths), 0,
            places=tuple(
                Place(file, function.line, f"{function.name} has {function.lines} lines")
                for file, function in longest if function.lines > LONGEST_FUNCTION)),
    ]


def unlabelled_parameters(files: dict[str, SwiftFile]) -> Measure:
    functions = list(_declarations(files, {"func", "init", "subscript"}))
    found = [(file, function) for file, function in functions if function.unlabelled_run >= 3]
    return Measure(
        "unlabelled", "functions with three unlabelled parameters in a row", _percent(len(found), len(functions)), 1,
        "%", f"{len(found)} of {len(functions)}",
        tuple(Place(file, function.line, f"{function.name} has unlabelled parameters") for file, function in found))


def question_comments(files: dict[str, SwiftFile]) -> Measure:
    comments = [(file, comment) for file, read_file in files.items() for comment in read_file.doc_comments]
    found = [(file, comment) for file, comment in comments if first_word(comment.text) in QUESTION_WORDS]
    return Measure(
        "question-words", "doc comments that begin with What, Whether, Who, How, Where, Why, When, Which",
        _percent(len(found), len(comments)), 2, "%", f"{len(found)} of {len(comments)}",
        tuple(Place(file, comment.line, comment.text.split("\n")[0]) for file, comment in found))


def undocumented(files: dict[str, SwiftFile]) -> list[Measure]:
    """The declarations whose modifier lets other targets use them, and that have no doc comment of their own."""
    return [
        _undocumented(files, "undocumented", "types and functions", TYPES_AND_FUNCTIONS),
        _undocumented(files, "undocumented-values", "properties and initialisers", PROPERTIES_AND_INITIALISERS),
    ]


def _undocumented(files: dict[str, SwiftFile], name: str, title: str, kinds: set[str]) -> Measure:
    declarations = [
        (file, item) for file, item in _declarations(files, kinds)
        if item.access in SHOWN and "override" not in item.modifiers and item.name not in STANDARD
    ]
    found = [(file, item) for file, item in declarations if not item.documented]
    return Measure(
        name, f"package and public {title} without a doc comment", _percent(len(found), len(declarations)), 0, "%",
        f"{len(found)} of {len(declarations)}",
        tuple(Place(file, item.line, f"{item.kind} {item.name} has no doc comment") for file, item in found))


def long_initialisers(files: dict[str, SwiftFile]) -> Measure:
    found = [
        (file, item) for file, item in _declarations(files, {"init"}) if len(item.parameters) > MOST_PARAMETERS
    ]
    return Measure(
        "initialisers", f"initialisers with more than {MOST_PARAMETERS} parameters", len(found), 0,
        places=tuple(Place(file, item.line, f"init has {len(item.parameters)} parameters") for file, item in found))


def root_files(files: dict[str, SwiftFile]) -> Measure:
    found = [file for file in files if re.fullmatch(r"Sources/MergeService/[^/]+", file)]
    return Measure(
        "root-files", "Swift files in the root of MergeService", len(found), 0,
        places=tuple(Place(file, 1, "belongs into a folder") for file in found))


def first_word(comment: str) -> str:
    """The first word of a doc comment, whatever marks stand around it; empty where there is none."""
    word = re.search(r"\w+", comment)
    return word[0] if word else ""


def ceiling(value: float) -> float:
    """A value as it is kept: a share is rounded up, so that it is not below itself."""
    return math.ceil(value * 100) / 100 if value != int(value) else int(value)


def _declarations(files: dict[str, SwiftFile], kinds: set[str]) -> list[tuple[str, Declaration]]:
    return [(file, item) for file, found in files.items() for item in found.declarations if item.kind in kinds]


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
