"""Histories of random events against real gateways; each one that violates the contract is shrunk and written to a file."""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import distortions
import scenes
import world
from history import Drawer
from processes import stop_servers_on_sigterm
from running import Runner
from server import Server
from shrinking import shrink, with_one_push


def draw(seed: int, name: str, engine: str, rounds: int) -> dict:
    numbers = random.Random(f"{seed}-{name}")
    drawn = world.draw(numbers, name)
    return {"seed": seed, "engine": engine, "world": drawn, "clients": [client["name"] for client in world.CLIENTS],
            "rounds": Drawer(numbers, drawn, engine).history(rounds),
            "scenes": [] if "judged" in drawn else scenes.draw(seed, engine)}


def leave_out(history: dict, names: list) -> dict:
    """Omits events that are known to fail, so that a run finds others."""
    for events in history["rounds"]:
        events["chaos"] = [event for event in events["chaos"] if not {event["do"], event.get("kind")} & set(names)]
    return history


def events_of(history: dict) -> int:
    return sum(len(events["chaos"]) + len(events["judged"]) + sum(len(events["clients"].get(name, [])) for name in history["clients"])
               for events in history["rounds"])


def report(history: dict, faults) -> None:
    print(f"FAILED seed {history['seed']}, {history['engine']}, world {json.dumps(history['world'])}", flush=True)
    for kind, text in faults.found:
        print(f"  {kind}: {text}", flush=True)


def minimized(runner: Runner, history: dict, faults, options) -> dict:
    """The shortest history found that fails in the same way."""
    kinds = {kind for kind, _ in faults.found}

    def fails(less: dict) -> bool:
        for _ in range(options.tries):
            found = runner.run(less)
            if kinds & {kind for kind, _ in found.found}:
                return True
        return False

    cut = dict(history, rounds=history["rounds"][:faults.round + 1])
    if faults.judged and fails(alone := with_one_push(history, faults.judged)):
        cut = alone
    return shrink(cut, fails, options.shrink_seconds)


def write(history: dict, folder: Path) -> Path:
    path = folder / f"history-{history['engine']}-{history['seed']}.json"
    path.write_text(json.dumps(history, indent=1))
    return path


def simulate(runner: Runner, options) -> int:
    end, failed, seed = time.monotonic() + options.minutes * 60, 0, options.seed
    while True:
        history = leave_out(draw(seed, options.world, runner.engine, options.rounds), options.without)
        began = time.monotonic()
        faults = runner.run(history, keeps=options.keep, end=end if options.minutes else float("inf"))
        counts = ", ".join(f"{count} {name}" for name, count in sorted(faults.counts.items()))
        print(f"{time.strftime('%H:%M:%S')} seed {seed}, {runner.engine}: {'FAILED' if faults.found else 'ok'}, {time.monotonic() - began:.0f} s; {counts}", flush=True)
        if options.verbose:
            print("  " + ", ".join(f"{count} × {status}" for status, count in sorted(faults.statuses.items())), flush=True)
        if faults.found:
            failed += 1
            report(history, faults)
            print(f"  written to {write(history, options.out)}", flush=True)
            if options.shrink_seconds:
                short = minimized(runner, history, faults, options)
                print(f"  {events_of(history)} events were shrunk to {events_of(short)}; replay them with "
                      f"Tests/run simulate --replay {write(short, options.out)}", flush=True)
                if options.print:
                    print(json.dumps(short), flush=True)
        seed += 1
        if time.monotonic() > end or options.minutes == 0:
            return failed


def replay(runner: Runner, options) -> int:
    history = json.loads(options.replay.read_text())
    for number in range(options.tries):
        faults = runner.run(history, keeps=options.keep)
        if faults.found:
            report(history, faults)
            return 1
    print(f"replayed {options.tries} times without a fault")
    return 0


def self_test(runner: Runner, options) -> int:
    """The checks must report each distortion, and nothing without one."""
    return distortions.self_test(runner, draw(options.seed, "plain", runner.engine, 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True, help="the program, such as .build/debug/fieldmerge")
    parser.add_argument("--seed", type=int, help="the first seed (default: random)")
    parser.add_argument("--minutes", type=float, default=0, help="how long histories with further seeds follow (default: 0, one whole history)")
    parser.add_argument("--engine", choices=("sqlite", "mariadb"), action="append", help="may be repeated (default: both)")
    parser.add_argument("--world", choices=sorted(world.WORLDS), default="random")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of a history (default: 5)")
    parser.add_argument("--without", action="append", default=[], metavar="EVENT",
                        help="leave out events of this kind, such as alter, kill or delete-good; may be repeated")
    parser.add_argument("--replay", type=Path, help="a file of a history")
    parser.add_argument("--tries", type=int, default=3, help="runs of a history that is replayed or shrunk (default: 3)")
    parser.add_argument("--shrink-seconds", type=float, default=300, help="time for shrinking; 0 for none (default: 300)")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()), help="folder for failing histories")
    parser.add_argument("--print", action="store_true", help="print a failing history whole after shrinking")
    parser.add_argument("--keep", action="store_true", help="keep the folder of each history, with its logs")
    parser.add_argument("--verbose", action="store_true", help="print how often each status was answered")
    parser.add_argument("--self-test", action="store_true", help="check that the checks find deliberate distortions")
    options = parser.parse_args()
    stop_servers_on_sigterm()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1_000_000)
    print(f"seed {options.seed}", flush=True)
    engines = options.engine or ["sqlite", "mariadb"]
    if options.replay:
        engines = [json.loads(options.replay.read_text())["engine"]]
    sys.exit(1 if sum(run(engine, options) for engine in engines) else 0)


def run(engine: str, options) -> int:
    folder = Path(tempfile.mkdtemp(prefix="simulate"))
    server = Server(folder) if engine == "mariadb" else None
    try:
        runner = Runner(engine, options.binary.resolve(), folder, server)
        return (replay if options.replay else self_test if options.self_test else simulate)(runner, options)
    finally:
        if server:
            server.stop()
        if options.keep:
            print(f"kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
