#!/usr/bin/env python3
"""Makes the packages of the client libraries: an npm tarball, a wheel, an sdist and a Swift package, all in one version.

    .release/clients.py VERSION FOLDER

The same sources make the same bytes: files have the time SOURCE_DATE_EPOCH, and the order of their names.
"""

import base64
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import sys
import tarfile
import time
import zipfile

CLIENTS = pathlib.Path(__file__).resolve().parents[1] / "Sources/clients"
EPOCH = max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800)  # a zip begins with 1980


def npm_files(version):
    folder = CLIENTS / "javascript"
    manifest = {**json.loads((folder / "package.json").read_text()), "version": version}
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".js", ".ts")}
    return {**files, "package.json": (json.dumps(manifest, indent=2) + "\n").encode()}


def python_files(version):
    folder = CLIENTS / "python"
    paths = [path for path in (folder / "fieldmerge").rglob("*") if path.suffix == ".py" or path.name == "py.typed"]
    files = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    entry = "fieldmerge/__init__.py"
    text = re.sub(r'^__version__ = ".*"$', f'__version__ = "{version}"', files[entry].decode(), count=1, flags=re.M)
    return {**files, entry: text.encode()}


def swift_files():
    """The manifest, and the files behind the links of its folder."""
    folder = CLIENTS / "swift"
    sources = {
        f"Sources/{module.name}/{path.relative_to(module.resolve())}": path.read_bytes()
        for module in (folder / "Sources").iterdir()
        for path in module.resolve().rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }
    return {**sources, "Package.swift": (folder / "Package.swift").read_bytes()}


def project(version):
    """The text of pyproject.toml in a version, and the lines of METADATA that follow from it."""
    text = (CLIENTS / "python/pyproject.toml").read_text()
    value = lambda name: re.search(rf'^{name} = "(.*)"$', text, re.M)[1]
    classifiers = json.loads(re.search(r"^classifiers = (\[.*\])$", text, re.M)[1])
    lines = ["Metadata-Version: 2.1", f"Name: {value('name')}", f"Version: {version}", f"Summary: {value('description')}"]
    lines += [f"Classifier: {one}" for one in classifiers]
    lines += [f"Requires-Python: {value('requires-python')}", "Description-Content-Type: text/markdown", ""]
    metadata = "\n".join(lines) + "\n" + (CLIENTS / "python/README.md").read_text()
    return re.sub(r'^version = ".*"$', f'version = "{version}"', text, count=1, flags=re.M), metadata


def tarball(path, root, files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(f"{root}/{name}")
            entry.size, entry.mtime, entry.mode = len(files[name]), EPOCH, 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    path.write_bytes(gzip.compress(packed.getvalue(), mtime=EPOCH))


def wheel(path, version, metadata):
    info = f"fieldmerge-{version}.dist-info"
    files = {
        **python_files(version), f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: fieldmerge\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record = [f"{name},sha256={digest(data)},{len(data)}" for name, data in sorted(files.items())]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(EPOCH)[:6])
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, data)


def make(version, folder):
    folder.mkdir(parents=True, exist_ok=True)
    pyproject, metadata = project(version)
    tarball(folder / f"fieldmerge-client-{version}.tgz", "package", npm_files(version))
    wheel(folder / f"fieldmerge-{version}-py3-none-any.whl", version, metadata)
    tarball(folder / f"fieldmerge-{version}.tar.gz", f"fieldmerge-{version}", {
        **python_files(version), "pyproject.toml": pyproject.encode(), "PKG-INFO": metadata.encode(),
        "README.md": (CLIENTS / "python/README.md").read_bytes(),
    })
    tarball(folder / f"fieldmerge-client-swift-{version}.tar.gz", f"fieldmerge-client-{version}", swift_files())


if __name__ == "__main__":
    if len(sys.argv) != 3 or not re.fullmatch(r"\d+\.\d+\.\d+", sys.argv[1]):
        sys.exit("usage: .release/clients.py VERSION FOLDER, with a version such as 1.2.0")
    make(sys.argv[1], pathlib.Path(sys.argv[2]))
