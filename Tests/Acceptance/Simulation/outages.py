"""Faults of the database server and of the connections to it. Only MariaDB has them."""

import threading


class Outages:
    """Each event is a generator (turns.py). One outage, or foreign transaction, follows the other."""

    def __init__(self, place):
        self.place = place

    def stall(self, event: dict):
        """The server does not respond for some seconds.

        A timer ends this, because the thread of all events may wait for the rest of an answer.
        """
        yield from self.place.without_occupation()
        server = self.place.engine.server
        with self.place.occupied():
            server.stall()
            end = threading.Timer(event["seconds"], server.resume)
            end.start()
            yield None
            while end.is_alive():
                yield None

    def restart(self, event: dict):
        """The server stops, or is killed, and starts again."""
        yield from self.place.without_occupation()
        with self.place.occupied():
            self.place.engine.server.end(event["gently"])
            yield None
            self.place.engine.server.begin_again()

    def cut(self, event: dict):
        """The connection breaks before or after the next COMMIT."""
        self.place.engine.proxy.cut = event["moment"]
        yield None
        self.place.engine.proxy.cut = None

    def disconnect(self, event: dict):
        """An operator ends all connections of the gateways."""
        yield from self.place.without_occupation()
        self.place.engine.disconnect()
