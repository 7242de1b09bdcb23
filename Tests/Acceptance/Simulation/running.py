"""Runs one history from its first round to its last quiet point."""

import copy
import re
import time

import scenes
import turns
from chaos import Chaos
from client import Client
from faults import Faults
from judging import Judge
from ledger import Ledger
from place import Place
from quiet import Quiet
from scenes.stage import Stage
from world import CLIENTS


class Runner:
    """Keeps the database server, which histories share one after the other."""

    count = 0

    def __init__(self, engine: str, binary, folder, server):
        self.engine, self.binary, self.folder, self.server = engine, binary, folder, server

    def run(self, history: dict, distortion: str = "", keeps: bool = False, end: float = float("inf")) -> Faults:
        """Returns at the first round whose quiet point finds a fault, or that ends after this time."""
        Runner.count += 1
        faults = Faults()
        place = Place(self.engine, self.binary, self.folder, self.server, Runner.count, history["world"])
        try:
            place.start()
            Run(place, history, faults, distortion).run(end)
        finally:
            try:
                place.stop()
            finally:
                if not keeps:
                    place.remove()
        return faults


class Run:
    """The actors of one history."""

    def __init__(self, place: Place, history: dict, faults: Faults, distortion: str):
        self.place, self.history, self.faults, self.distortion = place, history, faults, distortion
        self.ledger = Ledger(place.rows())
        names = history["clients"]
        self.clients = [Client(place, settings, self.ledger, faults) for settings in CLIENTS
                        if settings["name"] in names or settings["operator"]]
        self.chaos = Chaos(place, self.ledger, faults)
        self.quiet = Quiet(place, self.clients, self.ledger, faults)
        self.judge = Judge(place, self.clients[0], faults)

    def run(self, end: float) -> None:
        for client in self.clients:
            turns.at_once(client.replica.follow(0))
        for number, events in enumerate(self.history["rounds"]):
            self.round(number, events)
            if self.faults.found:
                self.faults.round = number
            if self.faults.found or time.monotonic() > end:
                break
        if not self.faults.found and time.monotonic() < end:
            scenes.run(self.history.get("scenes", []), Stage(self.place, self.clients[0], self.faults))
        self.faults.counts = dict(self.chaos.counts, pushes=sum(client.pushes for client in self.clients), judged=self.judge.pushes)

    def round(self, number: int, events: dict) -> None:
        if events["restore"]:
            self.save()
        self.distort()
        actors = [(client.start, events["clients"].get(client.name, [])) for client in self.clients]
        # Each event of the chaos has a separate lane, so that they overlap.
        actors += [(self.chaos.start, [event]) for event in events["chaos"]]
        self.chaos.begin(events["chaos"])
        if not turns.run(actors):
            self.faults.add("hang", "an event did not end")
        elif self.quiet.begin():
            self.judge.run(events["judged"])
            self.clients[-1].replica.drops = self.distortion == "dropped-change"
            self.quiet.check(number)
            if events["restore"] and not self.faults.found:
                self.restore(events["restore"])

    # MARK: Backups

    def save(self) -> None:
        self.last_entry = self.place.last_entry()
        self.place.engine.dump()
        self.saved = copy.deepcopy(vars(self.ledger))
        self.answers = {client.name: list(client.answers) for client in self.clients}

    def restore(self, what: str) -> None:
        """Pushes since the dump are lost. A journal alone has only lost their entries."""
        has_data, has_journal = what in ("data", "both"), what in ("journal", "both")
        self.chaos.counts["restore"] = self.chaos.counts.get("restore", 0) + 1
        self.place.restore(has_data, has_journal, self.last_entry)
        if has_data:
            vars(self.ledger).update(self.saved)
        self.ledger.journalled = self.saved["journalled"]
        for client in self.clients:
            client.answers = self.answers[client.name]
        self.quiet.forget_entries()
        self.judge.forget()

    # MARK: Distortions

    def distort(self) -> None:
        if self.distortion == "undone-push":
            self.clients[0].undoes = True
        if self.distortion == "canary":
            self.place.tokens.forbidden = lambda name: re.compile("AREA3-first") if name == self.clients[-1].name else None
