"""Connections to the database break during COMMIT. A push without a key runs at most once, one with a key exactly once."""

from proxy import Connection, Proxy

PUSHES = 16


class Breaker(Proxy):
    """Drops every third connection after its COMMIT, before the answer."""

    seen = broken = 0

    def commits(self, connection: Connection) -> None:
        self.seen += 1
        if self.seen % 3 == 0:
            connection.is_broken = True
            self.broken += 1


def run(stage) -> None:
    name = stage.open(2)
    place = stage.place
    proxy = Breaker(stage.place.folder / f"proxy{stage.serial}", stage.engine)
    index = len(place.gateways)
    place.gateways.append(None)
    stage.faults.is_injected = True
    try:
        place.start_gateway(index, url=proxy.url)
        check(stage, name, index)
    finally:
        if gateway := place.gateways.pop():
            gateway.stop()
        proxy.close()
    stage.faults.is_injected = False
    if not proxy.broken:
        stage.add("no COMMIT was broken")


def check(stage, name: str, index: int) -> None:
    merged = unknown = 0
    for number in range(PUSHES):
        status, _ = stage.push(index, [stage.addition(name, 1)])
        merged += status == 200
        unknown += status not in (200, 503)
        key, answers = f"broken-{stage.serial}-{number}", []
        stage.wait(lambda: answers.append(stage.push(index, [stage.addition(name, 2)], key)[0]) or answers[-1] == 200, f"answering {key}")
    rows = stage.rows(name)
    if not merged <= rows[1]["n"] <= merged + unknown:
        stage.add(f"{merged} pushes without a key were merged, {unknown} are unknown, and n is {rows[1]['n']}")
    if rows[2]["n"] != PUSHES:
        stage.add(f"{PUSHES} pushes with a key were merged, and n is {rows[2]['n']}")
