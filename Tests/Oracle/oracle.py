"""Random pushes to a gateway and to an independent model of the contract; every difference is told."""

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path

import texts
from database import Database
from engines import ENGINES
from processes import Gateway
from pushes import Maker
from schema import TABLES
from shrink import shrink
from trial import Client, Trial


class Oracle:
    """One engine, one gateway, one seed."""

    def __init__(self, engine, start, seed: int, most: int, shrinks: bool):
        self.engine, self.start = engine, start
        self.random = random.Random(seed)
        self.maker = Maker(self.random, engine.name == "sqlite")
        self.known = {}
        self.found = 0
        self.most = most
        self.shrinks = shrinks
        self.statuses = {}

    def run(self, pushes: int) -> None:
        self.gateway, self.client = self.start()
        try:
            self.push_all(pushes)
        finally:
            self.gateway.stop()

    def begin_anew(self) -> None:
        """Another gateway with an empty journal, since the trials of shrinking are in the old one."""
        self.gateway.stop()
        self.gateway, self.client = self.start()
        self.known = {}
        self.rows = self.engine.read()

    def push_all(self, pushes: int) -> None:
        for number in range(pushes):
            if number % 15 == 0:
                self.rows = self.maker.rows()
                self.engine.fill(self.rows)
            body = self.maker.push(Database(TABLES, self.rows))
            preview = self.random.random() < 0.08
            trial = Trial(self.engine, self.client, self.rows, self.known, body, preview)
            self.statuses[trial.reply[0]] = self.statuses.get(trial.reply[0], 0) + 1
            if trial.differences:
                self.found += 1
                self.tell(number, trial, preview)
                if self.found >= self.most:
                    return
                self.begin_anew()
            else:
                self.rows, self.known = trial.held, trial.known

    def tell(self, number: int, trial, preview: bool) -> None:
        known, rows = self.known, trial.rows
        kind = trial.differences[0].split(":")[0].split("]")[-1]

        def again(body):
            self.engine.fill(rows)
            return Trial(self.engine, self.client, rows, known, body, preview)

        def fails(body):
            own = again(body)
            statuses = own.told[0] == trial.told[0] and own.reply[0] == trial.reply[0]
            return bool(own.differences) and own.differences[0].split(":")[0].split("]")[-1] == kind and statuses

        found = trial
        body = shrink(trial.body, fails) if self.shrinks else trial.body
        if body is not trial.body:
            found = again(body)
        print(f"\n=== push {number}{' (preview)' if preview else ''}, {self.engine.name}")
        print("push:", json.dumps(body))
        for line in found.differences:
            print("  " + line)
        for name, (status, answer) in (("model", found.told), ("gateway", found.reply)):
            print(f"{name}: {status} {json.dumps(answer)}")
        print("rows:")
        for table in TABLES:
            for row in rows[table.name].values():
                print(f"  {table.name} {json.dumps(row)}")
        sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True, help="the program, such as .build/release/fieldmerge")
    parser.add_argument("--pushes", type=int, default=10_000, help="for each engine and seed (default: 10000)")
    parser.add_argument("--seed", type=int, action="append", help="may be repeated (default: 1)")
    parser.add_argument("--engine", choices=sorted(ENGINES), action="append", help="may be repeated (default: both)")
    parser.add_argument("--most", type=int, default=10, help="differences after which a run ends (default: 10)")
    parser.add_argument("--whole", action="store_true", help="tells pushes as they were, not the smallest that differ")
    options = parser.parse_args()
    found = 0
    for name in options.engine or sorted(ENGINES):
        with tempfile.TemporaryDirectory() as path:
            found += run(name, Path(path), options)
    sys.exit(1 if found else 0)


def run(name: str, folder: Path, options) -> int:
    binary = options.binary.resolve()
    rules = folder / "rules"
    rules.mkdir()
    for file, text in texts.rules().items():
        (rules / file).write_text(text)
    engine = ENGINES[name](folder, binary)
    found = 0

    def start():
        gateway = Gateway(binary, folder, "gateway", engine.url, rules, engine.new_journal() + ["--log-level", "warning"])
        return gateway, Client(gateway)

    try:
        for seed in options.seed or [1]:
            began = time.monotonic()
            oracle = Oracle(engine, start, seed, options.most, not options.whole)
            oracle.run(options.pushes)
            found += oracle.found
            told = ", ".join(f"{count} × {status}" for status, count in sorted(oracle.statuses.items()))
            print(f"{name}, seed {seed}: {sum(oracle.statuses.values()):,} pushes ({told}), "
                  f"{oracle.found} differences, {time.monotonic() - began:.0f} s", flush=True)
    finally:
        engine.stop()
    return found


if __name__ == "__main__":
    main()
