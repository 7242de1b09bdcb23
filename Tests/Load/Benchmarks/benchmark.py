"""Measures FieldMerge against the floor of the same run. Tests/run benchmark builds everything and calls this."""

import argparse
import json
import shlex
import sys
import tempfile
import time
from pathlib import Path

import feed
import rowlog
from cases import NAMES, chosen
from figures import case_figure, floor_figure, summary
from laboratory import Laboratory
from processes import BenchmarkError, allow_many_files, run, stop_servers_on_sigterm
from report import HEADINGS, core_line, line, machine, machine_line


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Tests/run benchmark", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two seconds a figure, and no table of 5 million rows")
    parser.add_argument("--only", default="", metavar="NAME,…",
                        help="figures or groups: " + ", ".join(sorted(NAMES | feed.NAMES | rowlog.NAMES)))
    parser.add_argument("--seconds", type=float, help="for each figure (default: 10, or 2 with --quick)")
    parser.add_argument("--pushes", type=int, help="of the figure “memory” (default: 1,000,000, or 20,000)")
    parser.add_argument("--gateway-args", default="", metavar="ARGS", help="further options of “fieldmerge serve”")
    parser.add_argument("--no-journal", action="store_true", help="run the gateway with --journal off")
    parser.add_argument("--json", type=Path, metavar="FILE", help="default: .build/benchmark/results.json")
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--binaries", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.only = {name for name in options.only.split(",") if name}
    if unknown := options.only - NAMES - feed.NAMES - rowlog.NAMES:
        parser.error(f"there is no figure “{', '.join(sorted(unknown))}”")
    options.seconds = options.seconds or (2 if options.quick else 10)
    options.pushes = options.pushes or (20_000 if options.quick else 1_000_000)
    options.json = options.json or options.programs / "results.json"
    return options


def measure(options: argparse.Namespace, laboratory: Laboratory, report: dict) -> None:
    cases = chosen(options.only, options.quick)
    mariadb = [case for case in cases if case.engine == "mariadb"]
    for table in dict.fromkeys(["people"] + [case.table for case in mariadb]):
        laboratory.make_table(table, with_errands=table == "people")
    if len(cases) > len(mariadb):
        laboratory.make_sqlite()

    def add(figure: dict) -> None:
        report["figures"].append(figure)
        print(line(figure), flush=True)

    report["machine"] = machine(laboratory.server.version())
    print(machine_line(report["machine"]))
    print(f"{options.seconds:g} s a figure; µs of processor time for each merge or record read; "
          "ratio to the floor of this run\n")
    print(HEADINGS)
    best, tried = laboratory.best_floor("people")
    floor = best["merges"] / best["seconds"]
    for result in tried:
        add(floor_figure(f"floor, {result['threads']} threads", result, floor))
    for case in cases:
        against = floor
        if case.has_own_floor:
            own = laboratory.floor(case.table, best["threads"])
            against = own["merges"] / own["seconds"]
            add(floor_figure(f"floor, {case.name[5:]} rows", own, floor))
        add(case_figure(case, laboratory.load(case, options.pushes), against))
    if len(cases) > 1:
        add(floor_figure("floor, once more", laboratory.floor("people", best["threads"]), floor))
    report["floor"] = {"per_second": floor, "connections": best["threads"]}


def measure_feed(cases: list, options: argparse.Namespace, laboratory: Laboratory, report: dict) -> None:
    """The feed and the scan, each with its own kind of floor."""
    for table in dict.fromkeys(feed.table_of(case, options.quick) for case in cases):
        if table not in laboratory.tables:
            laboratory.make_table(table)
    report.setdefault("machine", machine(laboratory.server.version()))
    print(feed.heading())
    rooms = feed.FeedLaboratory(laboratory, options.quick)
    report["feed"] = []
    for case in cases:
        report["feed"].append(rooms.run(case))
        print(feed.feed_line(report["feed"][-1]), flush=True)


def measure_core(options: argparse.Namespace, report: dict) -> None:
    """The pure core, which needs no server."""
    report["core"] = json.loads(run([options.binaries / "fieldmerge-core-bench", str(min(options.seconds, 1))]))
    print()
    for figure in report["core"]:
        print(core_line(figure))


def main() -> int:
    options = arguments()
    stop_servers_on_sigterm()
    report = {"figures": [], "settings": {
        "seconds": options.seconds, "quick": options.quick, "gateway": options.gateway_args,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}}
    try:
        allow_many_files(11_000)
        feed_cases = [] if options.no_journal else feed.chosen(options.only)
        if not options.only or options.only - {"core"} - rowlog.NAMES:
            with tempfile.TemporaryDirectory(prefix="fieldmerge-benchmark-") as folder:
                laboratory = Laboratory(
                    Path(folder), options.programs, options.binaries / "fieldmerge",
                    shlex.split(options.gateway_args), options.seconds, not options.no_journal)
                try:
                    if not options.only or options.only & NAMES - {"core"}:
                        measure(options, laboratory, report)
                    if feed_cases:
                        measure_feed(feed_cases, options, laboratory, report)
                finally:
                    laboratory.close()
        if not options.no_journal and (not options.only or options.only & rowlog.NAMES):
            report.setdefault("feed", []).append(rowlog.measure(
                shlex.split(options.gateway_args), [options.programs, options.binaries / "fieldmerge"], options.quick,
                options.seconds))
            print(feed.heading() + "\n" + feed.feed_line(report["feed"][-1]), flush=True)
        if not options.only or "core" in options.only:
            measure_core(options, report)
    except BenchmarkError as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    report["summary"] = summary(report["figures"])
    print()
    for name, value in report["summary"].items():
        print(f"{name:<44}{value:>8.2f}")
    options.json.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    print(f"\n{options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
