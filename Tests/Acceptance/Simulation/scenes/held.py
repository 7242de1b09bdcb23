"""A transaction remains open while a later one is committed and reported. Then the feed also reports the earlier one.

The only gateway has no scan, which would find the row.
"""

import threading

from proxy import Connection, Proxy
from replica import Replica
from turns import at_once
from wire import Caller


MARK = "held-back"


class Holder(Proxy):
    """Delays the COMMIT of the connection that wrote the mark."""

    def __init__(self, *arguments):
        self.held, self.is_over, self.marked = threading.Event(), threading.Event(), set()
        super().__init__(*arguments)

    def requests(self, connection: Connection, data: bytes) -> None:
        if MARK.encode() in data:
            self.marked.add(connection)

    def commits(self, connection: Connection) -> None:
        if connection in self.marked:
            self.marked.discard(connection)
            self.held.set()
            self.is_over.wait(10)


def run(stage) -> None:
    name = stage.open(2)
    place = stage.place
    for gateway in place.gateways:
        gateway.stop()
    proxy = Holder(stage.place.folder / f"proxy{stage.serial}", stage.engine)
    place.start_gateway(0, url=proxy.url, options=["--changes", "off"])
    try:
        check(stage, name, proxy)
    finally:
        proxy.is_over.set()
        place.gateways[0].stop()
        proxy.close()
        place.start()


def check(stage, name: str, proxy: Holder) -> None:
    replica = Replica(stage.client.caller)
    at_once(replica.snapshot(0))
    earlier = threading.Thread(target=push, args=(stage, name), daemon=True)
    earlier.start()
    if not stage.wait(proxy.held.is_set, "holding a COMMIT"):
        return
    stage.push(0, [stage.addition(name, 2)], f"later-{stage.serial}")
    stage.wait(lambda: at_once(replica.follow(0)) and replica.records[name, 2]["crate"]["n"] == 1, "reporting the later push")
    proxy.is_over.set()
    earlier.join(20)
    label = stage.rows(name)[1]["label"]
    stage.wait(lambda: at_once(replica.follow(0)) and replica.records[name, 1]["crate"]["label"] == label == MARK, "reporting the earlier push", 8)


def push(stage, name: str) -> None:
    caller = Caller(stage.place, stage.client.settings, stage.faults)
    edit = {"resource": name, "id": 1, "changeset": {"crate": {"label": {"old": "first", "new": MARK}}}}
    status, text = at_once(caller.call(0, "POST", "/v1/push", {"key": f"held-{stage.serial}", "edits": [edit]}))
    if status != 200:
        stage.add(f"the earlier push was answered {status} {text}")
