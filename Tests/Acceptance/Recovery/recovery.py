"""Runs each command of the guide to recovery, and checks its promises to clients."""

import argparse
import os
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from clients import Device, Follower, Ledger
from page import Page
from processes import BenchmarkError, stop_servers_on_sigterm
from scene import RULES, Scene

ROOT = Path(__file__).resolve().parents[3]
GUIDE = ROOT / "Sources" / "fieldmerge" / "Guides" / "Recovery.md"
# Rows that no push over plain HTTP uses.
OFFLINE, OFFLINE_NOTE, LOST, LOST_NOTE, FOREIGN = 11, 12, 13, 14, 15


@dataclass(frozen=True)
class Case:
    """A case of the page, on one engine."""

    heading: str
    engine: str
    tags: frozenset = frozenset()
    # Pushes that the guide describes as lost without a list.
    may_lose: bool = False

    @property
    def name(self) -> str:
        return ", ".join([self.heading, self.engine, *sorted(self.tags)])

    @property
    def all_tags(self) -> set:
        return {self.engine, *self.tags}


def both(heading: str, *tags: str, may_lose: bool = False) -> list:
    return [Case(heading, engine, frozenset(tags), may_lose) for engine in ("mariadb", "sqlite")]


CASES = [
    *both("Restore both", "newer"), *both("Restore both", "no-newer", may_lose=True), *both("Restore data", "newer"),
    *both("Restore the journal"), *both("Journal lost"),
    Case("Promote a replica", "mariadb", frozenset({"old"})),
    Case("Promote a replica", "mariadb", frozenset({"no-old"}), may_lose=True),
    *both("Upgrade the application's schema"), *both("Downgrade FieldMerge"), *both("Disk full"),
]


class Trial:
    """One case: the work before, the accident, the commands of the page, and the checks."""

    def __init__(self, case: Case, page: Page, folder: Path, binary: Path):
        self.case, self.page = case, page
        self.faults = []
        self.scene = Scene(folder, binary, case.engine, is_small=case.heading == "Disk full")
        self.setup = page.commands("", {"setup", case.engine})
        self.ledger = Ledger(self.scene)
        self.output = ""

    def commands(self, heading: str, tags: set, part: slice = slice(None)) -> None:
        self.output += self.scene.run_page(self.setup, self.page.commands(heading, tags, part))

    def run(self) -> str:
        case, scene, ledger = self.case, self.scene, self.ledger
        ledger.work(30)
        self.follower = Follower(scene)
        self.offline, self.lost = Device(scene, "offline"), Device(scene, "lost")
        if case.heading == "Promote a replica":
            scene.add_replica()
            scene.wait_until("the replica follows", scene.caught_up)
        unanswered = [self.unanswered("add")]
        self.commands("Backups", {case.engine})
        self.offline.add(OFFLINE)
        self.offline.note(OFFLINE_NOTE, "offline")
        self.offline.create("offline")
        ledger.phase = "gap"
        ledger.work(25)
        if case.heading == "Promote a replica":
            scene.wait_until("the replica follows", scene.caught_up)
            scene.servers[1].sql("STOP SLAVE IO_THREAD")
        ledger.work(25)
        self.late = Device(scene, "late")
        self.young = next(push for push in reversed(ledger.pushes) if push.kind == "create")
        self.late.note(self.young.id, "late")
        self.lost.add(LOST)
        self.lost.note(LOST_NOTE, "lost")
        self.lost.create("lost")
        self.lost.send_and_lose()
        unanswered += [self.unanswered(kind) for kind in ("add", "note", "create", "shared")]
        scene.sql(f"UPDATE articles SET note = 'foreign' WHERE id = {FOREIGN};"
                  "INSERT INTO articles (name, stock) VALUES ('foreign', 1);")
        self.converge(self.follower)
        self.known = {row: names[0] for row, names in self.follower.replica.items()}

        unanswered += self.accident()
        if case.heading == "Downgrade FieldMerge":
            self.commands("Upgrade FieldMerge", case.all_tags)
            self.commands("Start and check", set())
            ledger.work(5)
            scene.journal_sql("UPDATE meta SET value = value + 1 WHERE name = 'version';")
        if case.heading == "Restore data":
            # Its commands replace step 2.
            self.commands("Restore both", case.all_tags, slice(0, 2))
            self.commands("Restore data", case.all_tags)
            self.commands("Restore both", case.all_tags, slice(3, None))
        else:
            self.commands(case.heading, case.all_tags)
        self.commands("Start and check", set())
        report = self.report()

        # The ends of edits that were open, in an order in which errors are likely: new records first.
        ledger.phase = "after"
        ledger.work(10)
        answers = Counter(f"{push.kind} {ledger.send(push)}" for push in unanswered)
        for device in (self.offline, self.lost, self.late):
            device.sync()
        ledger.work(10)
        for client in (self.follower, Follower(scene)):
            self.converge(client)
        rows = scene.rows()
        for device in (self.offline, self.lost, self.late):
            device.sync()
            self.expect(device.replica == rows, f"the replica “{device.name}” differs: {difference(device.replica, rows)}")
        self.check_pushes(rows, report)
        self.check_devices(rows, report)
        return self.figures(rows, report, answers)

    def unanswered(self, kind: str):
        self.ledger.refresh()
        push = self.ledger.make(kind)
        code = self.ledger.send(push)
        if code != "merged":
            raise BenchmarkError(f"a push was not merged: {push.key}, {code}")
        # The client has not received the answer.
        push.is_acknowledged = False
        return push

    def converge(self, client: Follower) -> None:
        def is_equal():
            client.follow()
            return client.replica == self.scene.rows()

        try:
            self.scene.wait_until("a replica equals the database", is_equal, 60)
        except BenchmarkError:
            self.faults.append(f"a replica differs: {difference(client.replica, self.scene.rows())}")

    def expect(self, is_so: bool, fault: str) -> None:
        if not is_so:
            self.faults.append(fault)

    # MARK: The accident

    def accident(self) -> list:
        """Returns pushes without an answer."""
        case, scene = self.case, self.scene
        # Times of pushes are compared as whole seconds.
        second = int(time.time())
        scene.wait_until("another second", lambda: int(time.time()) > second)
        if case.heading == "Promote a replica":
            scene.servers[0].kill()
            self.expect(scene.get("/readyz")[0] == 503, "/readyz is not 503 without the server")
            if "old" in case.tags:
                scene.servers[0].start()
        elif case.heading == "Journal lost":
            if case.engine == "mariadb":
                scene.server.sql("DROP DATABASE fieldmerge")
            else:
                os.remove(f"{scene.database}.fieldmerge")
            return self.expect_no_push("the journal is lost")
        elif case.heading == "Restore the journal":
            if case.engine == "mariadb":
                scene.server.sql("DROP TABLE fieldmerge.entries")
                return self.expect_no_push("the journal is damaged")
            else:
                scene.service.end(signal.SIGKILL)
                Path(f"{scene.database}.fieldmerge").write_bytes(b"damaged" * 1000)
        elif case.heading == "Upgrade the application's schema":
            (scene.backups / "rules").mkdir()
            (scene.backups / "rules" / "articles.yaml").write_text(RULES + "      shelf: shelf\n")
            join = "CONCAT('S', id)" if case.engine == "mariadb" else "'S' || id"
            (scene.backups / "upgrade.sql").write_text(
                f"ALTER TABLE articles ADD COLUMN shelf VARCHAR(20) NOT NULL DEFAULT '';\nUPDATE articles SET shelf = {join};\n")
        elif case.heading == "Disk full":
            self.fill_disk()
            return self.expect_no_push("the disk is full")
        return []

    def fill_disk(self) -> None:
        old = self.scene.backups / "old.sql"
        with open(old, "wb", buffering=0) as file:
            size = 1 << 20
            while size:
                try:
                    file.write(b"-" * size)
                except OSError:
                    size //= 2
        os.utime(old, (0, 0))

    def expect_no_push(self, reason: str) -> list:
        """Sends pushes until one is not merged, and returns it. Then `/readyz` must be 503."""
        scene, ledger = self.scene, self.ledger
        for _ in range(200):
            push = ledger.make("add")
            status, text = scene.request("POST", "/v1/push", push.body)
            push.code = text
            push.is_acknowledged = status == 200
            if status != 200:
                break
        # A server with a binary log waits for room during COMMIT.
        is_in_doubt = "disk" in reason and self.case.engine == "mariadb" and status == 504 and "unknown-outcome" in text
        self.expect(is_in_doubt or status == 503 and "cannot-write" in text,
                    f"while {reason}, a push got {status} {text[:200]}")
        try:
            scene.wait_until(f"/readyz is 503 while {reason}", lambda: scene.get("/readyz")[0] == 503, 20)
        except BenchmarkError as error:
            self.faults.append(str(error))
        return [push]

    # MARK: The checks

    def report(self) -> dict:
        """The pushes of the report, by record, each true if it was merged again."""
        path = self.scene.backups / "restored.txt"
        found, part = {}, ""
        for line in path.read_text().splitlines() if path.exists() else []:
            if line.startswith(("Merged pushes", "Pushes whose")):
                part = line
            elif match := re.match(r"\d+ .*? (articles/\S+) +(.*)$", line):
                found.setdefault(match[1], []).append(f"{part[:12]}: {match[2]}")
        return found

    def check_pushes(self, rows: dict, report: dict) -> None:
        self.counts = Counter()
        for push in self.ledger.pushes:
            times = self.ledger.times(push, rows)
            self.expect(times <= 1, f"the push {push.key} ({push.kind}) ran {times} times")
            self.counts[f"{push.phase} {'present' if times else 'absent'}"] += 1
            if times == 1 or not push.is_acknowledged:
                continue
            if f"articles/{push.id}" in report and push.phase == "gap":
                self.counts["lost, listed"] += 1
            else:
                self.counts["lost, not listed"] += 1
                self.expect(self.case.may_lose and push.phase == "gap",
                            f"the acknowledged push {push.key} ({push.kind}, articles/{push.id}) is lost and not listed")
        for shared in range(1, 6):
            wanted = sum(self.ledger.times(push, rows) for push in self.ledger.pushes
                         if push.kind == "shared" and 1 + push.row % 5 == shared)
            self.expect(rows[shared][2] - 100 == wanted, f"the shared row {shared} has {rows[shared][2] - 100}, not {wanted}")
        names = Counter(row[0] for row in rows.values())
        self.expect(names["lost"] <= 1 and names["offline"] <= 1, f"a record was created twice: {names}")
        renamed = {row: (name, rows[row][0]) for row, name in self.known.items() if row in rows and rows[row][0] != name}
        self.counts["numbers given again"] = len(renamed)
        # The journal has no number that another program used.
        pushed = [change for change in renamed.values() if change[0] != "foreign"]
        if not self.case.may_lose:
            self.expect(not pushed, f"numbers were given to other records: {renamed}")

    def check_devices(self, rows: dict, report: dict) -> None:
        wanted = {
            self.offline: {("add", OFFLINE): rows[OFFLINE][2] == 101, ("note", OFFLINE_NOTE, "offline"): rows[OFFLINE_NOTE][1] == "offline",
                           ("create", "offline"): any(row[0] == "offline" for row in rows.values())},
            self.lost: {("add", LOST): rows[LOST][2] == 101, ("note", LOST_NOTE, "lost"): rows[LOST_NOTE][1] == "lost",
                        ("create", "lost"): any(row[0] == "lost" for row in rows.values())},
            self.late: {("note", self.young.id, "late"): rows.get(self.young.id, ("", "", 0))[1] == "late"},
        }
        for device, edits in wanted.items():
            outcomes = device.outcomes()
            for edit, is_present in edits.items():
                status, reason, conflicts = outcomes[edit]
                if status == "merged" and not is_present and not conflicts:
                    is_listed = edit[0] != "create" and f"articles/{edit[1]}" in report
                    self.expect(is_listed, f"the edit {edit} of “{device.name}” is reported as merged and is not in the data")
        for row, (name, note, _) in rows.items():
            self.expect(note != "late" or name == self.young.key, f"the edit of {self.young.key} was applied to {name}")
        self.expect(rows[OFFLINE][2] in (100, 101) and rows[LOST][2] in (100, 101), "an edit of a device ran twice")

    def figures(self, rows: dict, report: dict, answers: Counter) -> str:
        def told(counts: Counter) -> str:
            return ", ".join(f"{count} × {name}" for name, count in sorted(counts.items())) or "nothing"

        return "\n".join([
            f"  {self.scene.blocks} blocks of commands, {self.scene.kills} kills; {len(self.ledger.pushes)} pushes: {told(self.counts)}",
            f"  in the report {sum(map(len, report.values()))} pushes; repeated without an answer: {told(answers)}",
            f"  follower: {told(self.follower.told)}; offline: {told(self.offline.told)}; lost answer: {told(self.lost.told)}; "
            f"late: {told(self.late.told)}",
        ])

    def close(self) -> None:
        for device in ("offline", "lost", "late"):
            if hasattr(self, device):
                getattr(self, device).store.close()
        self.scene.close()


def difference(replica: dict, rows: dict) -> str:
    keys = [key for key in sorted({*replica, *rows}) if replica.get(key) != rows.get(key)]
    return f"{len(keys)} records, " + "; ".join(f"{key}: {replica.get(key)} for {rows.get(key)}" for key in keys[:5])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True, help="the program, such as .build/release/fieldmerge")
    parser.add_argument("--only", default="", help="runs the cases whose name contains this text")
    parser.add_argument("--keep", action="store_true", help="prints the output of the commands and the gateway's log")
    options = parser.parse_args()
    stop_servers_on_sigterm()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    page, failed, skipped = Page(GUIDE), [], []
    for case in CASES:
        if options.only.lower() not in case.name.lower():
            continue
        if case.heading == "Disk full" and os.geteuid() != 0:
            skipped.append(case.name)
            continue
        with tempfile.TemporaryDirectory(prefix="r") as folder:
            trial = None
            try:
                trial = Trial(case, page, Path(folder), options.binary.resolve())
                figures = trial.run()
                faults = trial.faults
            except Exception as error:
                figures, faults = "", (trial.faults if trial else []) + [f"{type(error).__name__}: {error}"]
                if options.keep:
                    traceback.print_exc()
            finally:
                if trial:
                    if options.keep:
                        logs = [server.log.read_text(errors="replace") for server in trial.scene.servers]
                        print(trial.output, trial.scene.log(), *logs, sep="\n")

                    trial.close()
        print(f"{'FAILED' if faults else 'sound '} {case.name}", figures, *[f"  fault: {fault}" for fault in faults],
              sep="\n", flush=True)
        if faults:
            failed.append(case.name)
    if not options.only:
        for block in page.unused():
            if not skipped:
                failed.append(f"no case runs these commands under “{block.heading}”:\n{block.text}")
    print(f"{len(failed)} failed" + "".join(f"\n  {name}" for name in failed)
          + (f"; skipped without root: {', '.join(skipped)}" if skipped else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
