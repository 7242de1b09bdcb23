"""One hostile client at a time with eight normal ones: their delays, and the memory and work of the gateway."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Benchmarks"))
from processes import BenchmarkError, allow_many_files, stop_servers_on_sigterm  # noqa: E402

from attacker import Attacker  # noqa: E402
from attacks import ATTACKS, Attack, Holding  # noqa: E402
from growth import table  # noqa: E402
from normal import Crowd, p99, slowest  # noqa: E402
from place import Place  # noqa: E402
from watch import Idle, peak  # noqa: E402

# --request-time, --head-time, --body-time and --answer-time, by default.
LIMIT = 30
MEMORY = 512
COLUMNS = ("attack", "point", "p99 quiet", "p99 beside", "peak MB", "healthz", "longest", "works for", "strokes", "answers")
WIDTHS = (24, 6, 10, 10, 8, 9, 9, 9, 8, 0)


def row(*cells) -> str:
    return " ".join(str(cell).ljust(width) for cell, width in zip(cells, WIDTHS)).rstrip()


def measure(place: Place, name: str, quiet: float, seconds: float) -> list:
    """Runs one attack, prints its line, and returns the bars that it did not keep."""
    attack = ATTACKS[name]
    gateway = place.gateway()
    attacker, crowd = Attacker(name, gateway.port, place.hostile), None
    try:
        attacker.ready.wait(120)
        idle = Idle(gateway.pid)
        crowd = Crowd(gateway.port, place.normal)
        time.sleep(1)
        alone_from = time.monotonic()
        time.sleep(quiet)
        begun = time.monotonic()
        attacker.go.set()
        time.sleep(max(seconds, attack.limit + 6 if isinstance(attack, Holding) and attack.limit else 0,
                       attack.seconds if isinstance(attack, Attack) else 0))
        # Each of its requests once, however long that takes.
        attacker.round.wait(LIMIT)
        ended = time.monotonic()
        normal, crowd = crowd.stop(), None
        attacker.end.set()
        # Work that the last requests have left does not count for the next attack.
        idle.wait(LIMIT + 5)
        attacker.last.set()
        start = attacker.result()["begun"]
        until = idle.wait(LIMIT + 10)
        found = attacker.result()
        works = max(0.0, until - start)
        before = p99(normal["times"], alone_from, begun)
        beside = p99(normal["times"], begun, ended)
        health = slowest(normal["health"], begun, ended)
        memory = peak(gateway.pid)
        print(row(name, attack.point, f"{before * 1000:.1f} ms", f"{beside * 1000:.1f} ms", f"{memory:.0f}",
                  f"{health * 1000:.0f} ms", f"{found['longest']:.2f} s", f"{works:.1f} s", found["strokes"],
                  ", ".join(f"{count} × {status}" for status, count in found["statuses"].items())), flush=True)
        faults = []
        if beside > max(2 * before, before + 0.020):
            faults.append(f"p99 grew from {before * 1000:.1f} to {beside * 1000:.1f} ms")
        if memory > MEMORY:
            faults.append(f"{memory:.0f} MB were held")
        if normal["failed"]:
            faults.append(f"/healthz did not answer {normal['failed']} times")
        if set(normal["statuses"]) != {200} or normal["stuck"]:
            faults.append(f"normal clients were answered {normal['statuses']}")
        # How long a connection without a limit remains open is the client's choice.
        if (not isinstance(attack, Holding) or attack.limit) and found["longest"] > LIMIT + 1.5:
            faults.append(f"a request lasted for {found['longest']:.1f} s")
        if works > LIMIT + 1:
            faults.append(f"the gateway worked for {works:.1f} s on one request")
        if not gateway.is_running:
            faults.append("the gateway ended")
        place.acknowledged += normal["sum"]
        if set(normal["statuses"]) == {200} and (stored := place.sum()) != place.acknowledged:
            faults.append(f"{place.acknowledged} additions were acknowledged, and {stored} are stored")
        return faults
    finally:
        if crowd:
            crowd.drop()
        attacker.drop()
        gateway.stop()
        place.renew()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True, help="the program, such as .build/release/fieldmerge")
    parser.add_argument("--only", nargs="*", choices=ATTACKS, metavar="ATTACK", help=f"some of: {', '.join(ATTACKS)}")
    parser.add_argument("--part", default="1/1", metavar="N/M", help="every Mth attack, from the Nth on")
    parser.add_argument("--quiet", type=float, default=5, help="seconds without the hostile client (default: 5)")
    parser.add_argument("--seconds", type=float, default=8, help="seconds beside it, or what its limits need (default: 8)")
    parser.add_argument("--growth", action="store_true", help="measure instead how what requests cost grows with them")
    options = parser.parse_args()
    stop_servers_on_sigterm()
    allow_many_files(4_000)
    if options.growth:
        with tempfile.TemporaryDirectory(prefix="fm") as folder:
            grown = table(options.binary.resolve(), Path(folder))
        print(f"{grown} failed" if grown else "all passed")
        sys.exit(1 if grown else 0)
    part, parts = map(int, options.part.split("/"))
    chosen = list(options.only or ATTACKS)[part - 1::parts]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="fm") as folder:
        place = Place(options.binary.resolve(), Path(folder))
        try:
            print(row(*COLUMNS), flush=True)
            for name in chosen:
                try:
                    faults = measure(place, name, options.quiet, options.seconds)
                except (BenchmarkError, RuntimeError) as fault:
                    faults = [str(fault)]
                for fault in faults:
                    print(f"  FAILED: {fault}", flush=True)
                failed += bool(faults)
        finally:
            place.stop()
    print(f"{failed} of {len(chosen)} failed" if failed else "all passed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
