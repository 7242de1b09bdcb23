import tempfile
import unittest
from pathlib import Path

import imports
import pages


class ImportTests(unittest.TestCase):
    TABLE = (
        "\n| target | does | may import |\n| --- | --- | --- |\n| `A`, `B` | x | `C`; inside `D` |\n"
        "| `E` | x | nothing |\n\n| `F` | x | `G` |\n")

    def test_the_table_ends_before_another_text(self):
        rows = imports.table(self.TABLE)
        self.assertEqual(set(rows), {"A", "B", "E"})
        self.assertEqual(rows["B"], imports.Row(frozenset({"C"}), frozenset({"D"})))
        self.assertEqual(rows["E"], imports.Row(frozenset(), frozenset()))

    def test_a_row_allows_its_modules_only(self):
        row = imports.table(self.TABLE)["A"]
        for text, is_allowed in (
            ("import C", True), ("package import C", True), ("import D", True), ("internal import D", True),
            ("package import D", False), ("public import struct D.X", False), ("import func D.x", True),
            ("import E", False), ("@testable import E", False), ("#if canImport(E)\n    import E\n#endif", False),
            ("// import E\nlet a = \"import E\"", True), ("func a() { b.import; c }", True),
        ):
            with self.subTest(text):
                found = [imports.refusal(item["module"], item["level"], row) for item in imports.IMPORT.finditer(text)]
                self.assertEqual(not any(found), is_allowed)

    def test_targets_and_rows_belong_together(self):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            for target, text in (("A", "import C\nimport E"), ("B", ""), ("X", "import Y")):
                (root / "Sources" / target).mkdir(parents=True)
                (root / "Sources" / target / "File.swift").write_text(text)
            (root / imports.TABLE).parent.mkdir(parents=True)
            (root / imports.TABLE).write_text(self.TABLE)
            self.assertEqual([finding.split(": ")[1].split(";")[0] for finding in imports.findings(root)], [
                "A may not import E", "the table has no row for X", "there is no target E"])
            # Code of a tutorial belongs to an app.
            (root / "Sources/A/A.docc").mkdir()
            (root / "Sources/A/A.docc/App.swift").write_text("import Z")
            self.assertNotIn("Z", "".join(imports.findings(root)))
            # The manifest names the folder of this target.
            (root / "Sources/others/E").mkdir(parents=True)
            (root / "Sources/others/E/File.swift").write_text("")
            (root / "Package.swift").write_text('.target(\n    name: "E", path: "Sources/others/E")')
            self.assertEqual([finding.split(": ")[1].split(";")[0] for finding in imports.findings(root)], [
                "A may not import E", "the table has no row for X"])


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
