"""For tests of apps: a store in memory, a scripted server, a gateway in memory, a clock, and the real gateway.

from fieldmerge import testing

server = testing.MemoryGateway(rules, {"shoppers": [{"id": 123, …}]})
with testing.memory_store(server) as store:
    store.sync()
    with store.edit("shoppers", 123) as s:
        s.customer.firstName = "Bob"
    server.no_network()                  # the next request finds none
    assert store.sync().phase == "waiting"
    assert store.sync().ok
"""

from __future__ import annotations

from .clock import ManualClock
from .gateway import RealGateway, start_gateway
from .memory import MemoryGateway
from .scripted import Held, ScriptedServer
from .stores import memory_store

__all__ = ["Held", "ManualClock", "MemoryGateway", "RealGateway", "ScriptedServer", "memory_store", "start_gateway"]
