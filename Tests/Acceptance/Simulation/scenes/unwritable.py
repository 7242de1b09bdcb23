"""The gateway loses the right to write the journal. `/readyz` must report it, and again be ready when the right is back."""

import json

from turns import at_once


def run(stage) -> None:
    name = stage.open(1)
    engine = stage.engine
    tables = f"`{engine.journal}`.*"
    engine.script(f"REVOKE INSERT ON {tables} FROM {engine.server.ACCOUNT}")
    stage.faults.is_injected = True
    for index in range(len(stage.place.gateways)):
        status, _ = stage.push(index, [stage.addition(name, 1)], f"unwritable-{stage.serial}-{index}")
        if status == 200:
            stage.add("a push was merged without the right to write the journal")
        stage.wait(lambda: not is_ready(stage, index), f"/readyz of gateway {index} without the right to write the journal other than ready", 5)
    engine.script(f"GRANT INSERT ON {tables} TO {engine.server.ACCOUNT}")
    for index in range(len(stage.place.gateways)):
        stage.wait(lambda: is_ready(stage, index), f"gateway {index} ready after the right was granted")
    stage.faults.is_injected = False
    for index in range(len(stage.place.gateways)):
        status, answer = stage.push(index, [stage.addition(name, 1)], f"unwritable-{stage.serial}-{index}")
        if status != 200:
            stage.add(f"a push was answered {status} {answer} although /readyz is ready")
    if (n := stage.rows(name)[1]["n"]) != len(stage.place.gateways):
        stage.add(f"n is {n} after {len(stage.place.gateways)} pushes")


def is_ready(stage, index: int) -> bool:
    status, text = at_once(stage.client.caller.call(index, "GET", "/readyz"))
    return status == 200 and not json.loads(text)["problems"]
