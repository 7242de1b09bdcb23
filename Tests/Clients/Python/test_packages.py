"""The packages of the client libraries, made by .release/clients.py."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGES = [
    "fieldmerge-7.8.9-py3-none-any.whl", "fieldmerge-7.8.9.tar.gz", "fieldmerge-client-7.8.9.tgz",
    "fieldmerge-client-swift-7.8.9.tar.gz",
]  # fmt: skip


class PackageTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make(self, name: str) -> pathlib.Path:
        out = self.folder / name
        subprocess.run([sys.executable, str(ROOT / ".release/clients.py"), "7.8.9", str(out)], check=True)
        return out

    def test_the_same_sources_make_the_same_packages(self) -> None:
        digests = [
            {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in self.make(name).iterdir()} for name in ("one", "two")
        ]
        self.assertEqual(digests[0], digests[1])
        self.assertEqual(sorted(digests[0]), PACKAGES)

    def test_the_wheel_runs_from_its_files_alone(self) -> None:
        out, site = self.make("out"), self.folder / "site"
        with zipfile.ZipFile(out / "fieldmerge-7.8.9-py3-none-any.whl") as archive:
            archive.extractall(site)
        program = (
            "import fieldmerge, importlib.metadata as m, pkgutil\n"
            "for one in pkgutil.walk_packages(fieldmerge.__path__, 'fieldmerge.'): __import__(one.name)\n"
            "print(m.version('fieldmerge'), fieldmerge.__version__, fieldmerge.__file__)"
        )
        told = subprocess.run(
            [sys.executable, "-c", program], cwd=self.folder, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(site)}
        )
        self.assertEqual(told.stdout.split(), ["7.8.9", "7.8.9", str(site / "fieldmerge/__init__.py")])

    def test_the_sdist_names_its_version(self) -> None:
        with tarfile.open(self.make("out") / "fieldmerge-7.8.9.tar.gz") as archive:
            member = archive.extractfile("fieldmerge-7.8.9/pyproject.toml")
            assert member is not None
            self.assertIn('version = "7.8.9"\n', member.read().decode())
            self.assertIn("fieldmerge-7.8.9/fieldmerge/py.typed", archive.getnames())

    def test_the_swift_package_has_the_sources_of_the_client_alone(self) -> None:
        with tarfile.open(self.make("out") / "fieldmerge-client-swift-7.8.9.tar.gz") as archive:
            names = archive.getnames()
        self.assertEqual(
            {"/".join(name.split("/")[1:3]) for name in names},
            {"Package.swift", "Sources/FieldMergeClient", "Sources/FieldMergeTesting", "Sources/MergeCore"},
        )
        self.assertIn("fieldmerge-client-7.8.9/Sources/FieldMergeClient/Typed/TypedRecord.swift", names)
        sources = [name for name in names if ".docc/" not in name]
        self.assertTrue(all(name.endswith(".swift") for name in sources))
        self.assertIn("fieldmerge-client-7.8.9/Sources/FieldMergeClient/FieldMergeClient.docc/Tutorial/Tutorials.tutorial", names)

    def test_node_imports_the_npm_package_by_its_names(self) -> None:
        modules = self.folder / "node_modules"
        with tarfile.open(self.make("out") / "fieldmerge-client-7.8.9.tgz") as archive:
            archive.extractall(self.folder)
        modules.mkdir()
        (self.folder / "package").rename(modules / "fieldmerge")
        self.assertEqual(json.loads((modules / "fieldmerge/package.json").read_text())["version"], "7.8.9")
        program = (
            'import { open } from "fieldmerge"; import { ScriptedServer } from "fieldmerge/testing";'
            'const store = await open({ server: new ScriptedServer({ rules: null }).url, user: "u", path: ":memory:" });'
            "console.log(store.status.phase); await store.close();"
        )
        (self.folder / "app.mjs").write_text(program)
        told = subprocess.run(["node", "app.mjs"], cwd=self.folder, check=True, capture_output=True, text=True)
        self.assertTrue(told.stdout.strip())

    def test_all_files_name_the_version_of_the_program(self) -> None:
        def found(file: str, pattern: str) -> str:
            match = re.search(pattern, (ROOT / file).read_text(), re.M)
            return match[1] if match else ""

        version = found("Sources/Operations/Program/ProgramVersion.swift", r'static let text = "(.+)"')
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        for file, pattern in [
            ("Sources/clients/javascript/package.json", r'"version": "(.+)"'),
            ("Sources/clients/python/pyproject.toml", r'^version = "(.+)"'),
            ("Sources/clients/python/fieldmerge/__init__.py", r'^__version__ = "(.+)"'),
            ("README.md", r"version (\d+\.\d+\.\d+),"),
            ("Sources/fieldmerge/Guides/Operation.md", r"fieldmerge_(\d.+)_amd64\.deb"),
        ]:
            self.assertEqual(found(file, pattern), version, file)


if __name__ == "__main__":
    unittest.main()
