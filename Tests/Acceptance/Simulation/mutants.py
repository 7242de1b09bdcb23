"""Deliberate faults of the gateway: the simulation must find each of them.

The sources of the product contain no mutants. A copy of them does: one program that contains all mutants, of which the
environment variable FIELDMERGE_MUTANT switches one on.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).parent / "Mutants"
ROOT = Path(__file__).parents[3]
COPY = ROOT / ".build" / "mutants"
VARIABLE = "FIELDMERGE_MUTANT"

SWITCH = """#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

private let mutant = getenv("FIELDMERGE_MUTANT").map { String(cString: $0) }

package func isMutant(_ name: String) -> Bool { mutant == name }
"""


class MutantError(Exception):
    """A file of a mutant that cannot be used."""


class Mutant:
    """A file: a sentence, and for each change a line `--- PATH`, the text, a line `--- becomes`, and the other text."""

    def __init__(self, file: Path):
        self.name = file.stem
        head, *parts = re.split(r"^--- (.+)\n", file.read_text(), flags=re.MULTILINE)
        self.sentence = head.strip()
        self.changes = [(parts[i], parts[i + 1], parts[i + 3]) for i in range(0, len(parts) - 3, 4)]
        if not self.sentence or not self.changes or len(parts) % 4 or set(parts[2::4]) != {"becomes"}:
            raise MutantError(f"{file.name}: a mutant is a sentence, then --- PATH, text, --- becomes, text.")
        if not any(f'isMutant("{self.name}")' in new for _, _, new in self.changes):
            raise MutantError(f'{file.name}: no change contains isMutant("{self.name}").')


def mutants() -> list:
    return [Mutant(file) for file in sorted(FOLDER.glob("*.mutant"))]


def mutated(all_mutants: list) -> dict:
    """The mutated source files, by path. Each text must occur once in its file, and no two may overlap."""
    places = {}
    for mutant in all_mutants:
        for path, old, new in mutant.changes:
            file = ROOT / path
            source = file.read_text() if file.exists() else ""
            if source.count(old) != 1:
                raise MutantError(f"{mutant.name}: its text occurs {source.count(old)} times in {path}, not once:\n{old}")
            places.setdefault(path, []).append((source.index(old), old, new, mutant.name))
    return {path: changed(path, sorted(changes)) for path, changes in places.items()}


def changed(path: str, changes: list) -> str:
    source, parts, end = (ROOT / path).read_text(), [], 0
    for begin, old, new, name in changes:
        if begin < end:
            raise MutantError(f"{name}: its text in {path} overlaps that of another mutant.")
        parts += [source[end:begin], new]
        end = begin + len(old)
    text = "".join(parts) + source[end:]
    if not path.startswith("Sources/MergeCore/") and not re.search(r"^(package |public )?import MergeCore$", text, re.MULTILINE):
        text = "import MergeCore\n" + text
    return text


# MARK: The program

def build(all_mutants: list) -> Path:
    """Builds the copy of the sources with all mutants, and returns the program."""
    sources = mutated(all_mutants)
    sources["Sources/MergeCore/Mutants.swift"] = SWITCH
    for file in (ROOT / "Sources").rglob("*"):
        path = str(file.relative_to(ROOT))
        if file.is_file() and path not in sources:
            write(path, file.read_bytes())
    for path, text in sources.items():
        write(path, text.encode())
    for file in (COPY / "Sources").rglob("*"):
        path = file.relative_to(COPY)
        if file.is_file() and not (ROOT / path).exists() and str(path) not in sources:
            file.unlink()
    package = (ROOT / "Package.swift").read_text()
    # The tests are not copied.
    write("Package.swift", (package + '\npackage.targets.removeAll { $0.type == .test || $0.name == "TestSupport" }\n').encode())
    resolved = ROOT / "Package.resolved"
    if resolved.exists():
        write("Package.resolved", resolved.read_bytes())
    command = ["nice", "-n", "15", "swift", "build", "--package-path", str(COPY), "--product", "fieldmerge"]
    subprocess.run(command, check=True)
    found = subprocess.run(command[3:] + ["--show-bin-path"], check=True, capture_output=True, text=True)
    return Path(found.stdout.strip()) / "fieldmerge"


def write(path: str, content: bytes) -> None:
    """Leaves a file that has this content as it is, so that it is not compiled again."""
    file = COPY / path
    if file.exists() and file.read_bytes() == content:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


# MARK: The hunt

class Hunt:
    """Runs histories with one mutant after the other, in turn on each engine."""

    def __init__(self, binary: Path, folder: Path, engines: list, rounds: int):
        from running import Runner
        from server import Server
        self.server = Server(folder) if "mariadb" in engines else None
        self.rounds = rounds
        self.runners = [Runner(engine, binary, folder, self.server if engine == "mariadb" else None) for engine in engines]

    def run(self, mutant, seed: int, runner, has_rounds: bool):
        from simulate import draw
        history = draw(seed, "random", runner.engine, self.rounds if has_rounds else 0)
        if mutant:
            os.environ[VARIABLE] = mutant.name
        try:
            return runner.run(history)
        finally:
            os.environ.pop(VARIABLE, None)

    def find(self, mutant, seed: int, minutes: float) -> str:
        """Looks for a history that fails with the mutant and passes without it. Returns a line of the table."""
        begin = time.monotonic()
        number = spent = 0
        while (seconds := time.monotonic() - begin - spent) < minutes * 60:
            runner = self.runners[number % len(self.runners)]
            # Every other history of an engine consists of scenes alone.
            has_rounds = number // len(self.runners) % 2 == 0
            faults = self.run(mutant, seed + number, runner, has_rounds)
            seconds = time.monotonic() - begin - spent
            if faults.found:
                pause = time.monotonic()
                without = self.run(None, seed + number, runner, has_rounds)
                spent += time.monotonic() - pause
                kinds = {kind for kind, _ in without.found}
                new = [fault for fault in faults.found if fault[0] not in kinds]
                if new:
                    kind, text = new[0]
                    print("\n".join(f"  {name}: {each[:3000]}" for name, each in new), flush=True)
                    return f"| {mutant.name} | {seconds:.0f} | {kind} | {runner.engine}, seed {seed + number}: {text[:160]} |"
                print(f"  seed {seed + number}, {runner.engine}: also fails without a mutant: {sorted(kinds)}", flush=True)
            number += 1
        return f"| {mutant.name} | not found | | {number} histories in {seconds:.0f} s |"

    def stop(self) -> None:
        if self.server:
            self.server.stop()


def hunt(wanted: list, binary: Path, options) -> int:
    """Prints a table. Returns the number of mutants that were not found."""
    from processes import stop_servers_on_sigterm
    stop_servers_on_sigterm()
    folder = Path(tempfile.mkdtemp(prefix="mutants"))
    looking = Hunt(binary, folder, options.engine or ["mariadb", "sqlite"], options.rounds)
    lines = []
    try:
        for mutant in wanted:
            lines.append(looking.find(mutant, options.seed, options.minutes))
            print(lines[-1], flush=True)
    finally:
        looking.stop()
        shutil.rmtree(folder, ignore_errors=True)
    missed = sum("| not found |" in line for line in lines)
    print(f"\n{len(lines) - missed} of {len(lines)} mutants found\n\n| mutant | seconds | check | first fault |\n|---|---|---|---|")
    print("\n".join(lines), flush=True)
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(prog="Tests/run simulate", description=__doc__)
    parser.add_argument("--mutants", nargs="*", metavar="NAME", help="the mutants to look for (default: all)")
    parser.add_argument("--minutes", type=float, default=10, help="time for each mutant (default: 10)")
    parser.add_argument("--check", action="store_true", help="only check that each mutant fits its source file")
    parser.add_argument("--list", action="store_true", help="print the mutants")
    parser.add_argument("--engine", choices=("sqlite", "mariadb"), action="append", help="may be repeated (default: both)")
    parser.add_argument("--seed", type=int, default=1, help="the first seed of each mutant (default: 1)")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of a history (default: 2)")
    parser.add_argument("--binary", type=Path, help="a program that contains the mutants (default: build it)")
    options = parser.parse_args()
    try:
        found = mutants()
        mutated(found)
        names = {mutant.name for mutant in found}
        if unknown := set(options.mutants) - names:
            raise MutantError(f"no mutant has the name {', '.join(sorted(unknown))}; --list prints all.")
        if options.list:
            print("\n".join(f"{mutant.name}: {mutant.sentence}" for mutant in found))
        if options.check or options.list:
            print(f"{len(found)} mutants fit the sources")
            return 0
        wanted = [mutant for mutant in found if not options.mutants or mutant.name in options.mutants]
        return 1 if hunt(wanted, options.binary or build(found), options) else 0
    except MutantError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
