"""Runs one history from its first round to its last quiet point."""

import re
import time

import scenes
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

    def run(self, history: dict, distortion: str = "", keeps: bool = False) -> Faults:
        """Returns at the first round whose quiet point finds a fault."""
        Runner.count += 1
        faults = Faults()
        place = Place(self.engine, self.binary, self.folder, self.server, Runner.count, history["world"])
        try:
            place.start()
            ledger = Ledger(place.rows())
            names = history["clients"]
            clients = [Client(place, settings, ledger, faults) for settings in CLIENTS
                       if settings["name"] in names or settings["operator"]]
            for client in clients:
                client.replica.follow(0)
            chaos, quiet = Chaos(place, ledger, faults), Quiet(place, clients, ledger, faults)
            judge = Judge(place, clients[0], faults)
            for number, events in enumerate(history["rounds"]):
                self.distort(distortion, clients)
                threads = [client.start(events["clients"].get(client.name, [])) for client in clients if client.name in names]
                threads.append(chaos.start(events["chaos"]))
                for thread in threads:
                    thread.join(300)
                    if thread.is_alive():
                        faults.add("hang", "a client did not end within 300 s")
                if quiet.begin():
                    judge.run(events["judged"])
                    quiet.check(number)
                if faults.found:
                    faults.round = number
                    break
            if not faults.found:
                scenes.run(history.get("scenes", []), Stage(place, clients[0], faults))
            faults.counts = dict(chaos.counts, pushes=sum(client.pushes for client in clients), judged=judge.pushes)
        finally:
            try:
                place.stop()
            finally:
                if not keeps:
                    place.remove()
        return faults

    @staticmethod
    def distort(distortion: str, clients: list) -> None:
        if distortion == "dropped-change":
            clients[-1].replica.drops = True
        if distortion == "undone-push":
            clients[0].undoes = True
        if distortion == "canary":
            clients[-1].caller.pattern = re.compile("AREA3-first")


def clock() -> str:
    return time.strftime("%H:%M:%S")
