"""A gateway is killed right after an answer. The write, its answer and its entry remain."""

import json

from turns import at_once

KILLS = 3


def run(stage) -> None:
    name = stage.open(1)
    keys = [f"killed-{stage.serial}-{number}" for number in range(KILLS)]
    for number, key in enumerate(keys):
        first = stage.push_to_end(0, [stage.addition(name, 1)], key)
        stage.place.gateways[0].kill()
        stage.place.start_gateway(0)
        again = stage.push_to_end(0, [stage.addition(name, 1)], key)
        n = stage.rows(name)[1]["n"]
        if again != first or n != number + 1:
            return stage.add(f"n is {n} after {number + 1} pushes. After a kill {key} was answered {again}, before it {first}")
    status, text = at_once(stage.client.caller.call(0, "GET", f"/v1/journal?resource={name}&limit=100"))
    found = [entry["key"] for entry in json.loads(text)["entries"]] if status == 200 else []
    if found != keys:
        stage.add(f"the journal has entries for {found}, and {keys} were merged")
