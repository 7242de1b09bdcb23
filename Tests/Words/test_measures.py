import tempfile
import unittest
from pathlib import Path

import imports
import measure
import pages
from declarations import read
from lexer import tokens
from measures import Measure, all_measures, ceiling, first_word, measures


def values(**files: str) -> dict[str, float]:
    found = measures({f"Sources/{name}": read(text) for name, text in files.items()})
    return {item.name: item.value for item in found}


class MeasureTests(unittest.TestCase):
    def test_each_measure_counts(self):
        body = "\n".join(["x"] * 60)
        text = (
            f"/// What it is.\npackage func long() {{\n{body}\n}}\n"
            "package func bare(_ a: Int, _ b: Int, _ c: Int) {}\n"
            "struct S {\n  /// Whether so.\n  let a: Int\n  /// Sound.\n  func f() {}\n"
            f"  init({', '.join(f'a{index}: Int' for index in range(9))}) {{}}\n}}\n")
        self.assertEqual(values(**{"MergeService/A.swift": text, "MergeService/Push/B.swift": "", "B.swift": ""}), {
            "function-median": 1, "function-longest": 62, "function-over": 1, "unlabelled": 25,
            "question-words": 100 * 2 / 3, "undocumented": 50, "undocumented-values": 0, "initialisers": 1,
            "root-files": 1})

    def test_every_question_word_counts(self):
        for word in ("What", "Whether", "Who", "How", "How often", "Where", "Why", "When", "Which"):
            with self.subTest(word):
                self.assertEqual(values(A=f"/// {word} it is.\nlet a = 1\n")["question-words"], 100)
        # The second line of a comment is left alone.
        self.assertEqual(values(A="/// The place,\n/// where it is.\nlet a = 1\n")["question-words"], 0)

    def test_tests_are_measured_like_sources(self):
        with tempfile.TemporaryDirectory() as name:
            for folder, text in (("Sources", ""), ("Tests", "/// What it is.\nfunc a(_ b: Int, _ c: Int, _ d: Int) {}")):
                (Path(name) / folder).mkdir()
                (Path(name) / folder / "A.swift").write_text(text)
            found = {item.name: item.value for item in all_measures(Path(name))}
        self.assertEqual((found["unlabelled"], found["question-words"]), (0, 0))
        self.assertEqual((found["tests-unlabelled"], found["tests-question-words"]), (100, 100))
        self.assertNotIn("tests-root-files", found)

    def test_first_words(self):
        for comment, word in (
            ("Whether", "Whether"), ("`Who` is", "Who"), ("- How: so", "How"), ("However", "However"), ("", ""),
        ):
            with self.subTest(comment):
                self.assertEqual(first_word(comment), word)

    def test_a_ceiling_is_kept_until_the_bar_is_reached(self):
        over, under = Measure("over", "", 10.001, 1), Measure("under", "", 1, 1)
        self.assertEqual(over.limit({"over": 12}), 12)
        self.assertEqual(over.limit({}), 1)
        self.assertEqual(under.limit({"under": 0}), 1)
        self.assertEqual(ceiling(10.001), 10.01)
        self.assertEqual(measure.lowered([over, under], {"over": 12, "under": 3}), {"over": 10.01})
        self.assertEqual(measure.lowered([over], {"over": 9}), {"over": 9})


class ImportTests(unittest.TestCase):
    TABLE = "\n| target | does | may import |\n| --- | --- | --- |\n| `A`, `B` | x | `C`; inside `D` |\n| `E` | x | nothing |\n\n| `F` | x | `G` |\n"

    def test_the_table_ends_where_another_text_begins(self):
        rows = imports.table(self.TABLE)
        self.assertEqual(set(rows), {"A", "B", "E"})
        self.assertEqual(rows["B"], imports.Allowed(frozenset({"C"}), frozenset({"D"})))
        self.assertEqual(rows["E"], imports.Allowed(frozenset(), frozenset()))

    def test_what_a_row_allows(self):
        row = imports.table(self.TABLE)["A"]
        for text, is_allowed in (
            ("import C", True), ("package import C", True), ("import D", True), ("internal import D", True),
            ("package import D", False), ("public import struct D.X", False), ("import func D.x", True),
            ("import E", False), ("@testable import E", False), ("#if canImport(E)\n    import E\n#endif", False),
            ("// import E\nlet a = \"import E\"", True), ("func a() { b.import; c }", True),
        ):
            with self.subTest(text):
                found = imports.imports(tokens(text))
                self.assertEqual(not any(imports.refusal(item, row) for item in found), is_allowed)

    def test_targets_and_rows_belong_together(self):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            for target, text in (("A", "import C\nimport E"), ("B", ""), ("X", "import Y")):
                (root / "Sources" / target).mkdir(parents=True)
                (root / "Sources" / target / "File.swift").write_text(text)
            (root / imports.TABLE).parent.mkdir(parents=True)
            (root / imports.TABLE).write_text(self.TABLE)
            self.assertEqual([place.words.split(";")[0] for place in imports.findings(root)], [
                "the table has no row for X", "there is no target E", "A may not import E"])
            # A target that lies where the manifest says.
            (root / "Sources/others/E").mkdir(parents=True)
            (root / "Sources/others/E/File.swift").write_text("")
            (root / "Package.swift").write_text('.target(\n    name: "E", path: "Sources/others/E")')
            self.assertEqual([place.words.split(";")[0] for place in imports.findings(root)], [
                "the table has no row for X", "A may not import E"])


class PageTests(unittest.TestCase):
    def test_pages_and_sections(self):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / pages.GUIDES).mkdir(parents=True)
            (root / pages.GUIDES / "Protocol.md").write_text("# Protocol\n\n## 4. Merging\n")
            for text, count in (
                ("/// As Protocol.md says", 0), ("/// (Protocol.md, section 4)", 0), ("/// (Protocol.md section 5)", 1),
                ("/// See Other.md", 1), ("/// As PROTOCOL says", 1), ("/// Sources/fieldmerge/Guides/Protocol.md", 0),
            ):
                with self.subTest(text):
                    self.assertEqual(len(pages.problems(root, root, text)), count)
