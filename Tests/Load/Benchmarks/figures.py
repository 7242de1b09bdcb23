"""Computes the reported figures from the counters of the programs."""

from cases import Case


def floor_figure(name: str, result: dict, best: float) -> dict:
    merges = result["merges"]
    per_second = merges / result["seconds"]
    return {
        "name": name, "group": "floor", "clients": result["threads"], "batch": 1, "per_second": per_second,
        "ratio": per_second / best if best else 1.0,
        "cpu_us": {"generator": 1e6 * result["cpu"] / merges,
                   "server": 1e6 * result["processes"]["server"]["cpu"] / merges},
    }


def case_figure(case: Case, result: dict, floor: float) -> dict:
    """A figure of the gateway. `per_second` counts merges, or read records."""
    records = result["answered"] * case.batch
    per_second = records / result["seconds"]
    gateway = result["processes"]["gateway"]
    cpu = {"generator": result["cpu"], **{name: entry["cpu"] for name, entry in result["processes"].items()}}
    figure = {
        "name": case.name, "group": case.group, "clients": case.clients, "batch": case.batch,
        "requests_per_second": result["answered"] / result["seconds"], "per_second": per_second,
        "ratio": per_second / floor, "wrong": result["wrong"],
        "p50_ms": result["p50"], "p99_ms": result["p99"], "max_ms": result["max"],
        "cpu_us": {name: 1e6 * seconds / records for name, seconds in cpu.items()},
        "peak_mb": gateway["peak"] / 1024, "rss_mb": [kib / 1024 for kib in gateway["rss"]],
    }
    if case.kind == "idle":
        # They are made one after the other, so their speed has no meaning.
        for name in ("requests_per_second", "per_second", "ratio", "p50_ms", "p99_ms", "max_ms", "cpu_us"):
            del figure[name]
        figure["idle_mb"] = figure["rss_mb"][2] - figure["rss_mb"][0]
    return figure


def summary(figures: list) -> dict:
    """The promised figures that were measured."""
    known = {figure["name"]: figure for figure in figures}
    out = {}
    if edits := known.get("edits"):
        out["merges, times the floor"] = edits["ratio"]
        out["p99, times the median"] = edits["p99_ms"] / edits["p50_ms"]
    if (one := known.get("alone-1")) and (many := known.get("alone-1000")):
        out["a push of 1,000 rows, times a push of one"] = many["p50_ms"] / one["p50_ms"]
    if idle := known.get("idle-10000"):
        out["10,000 idle connections, MB"] = idle["idle_mb"]
    if memory := known.get("memory"):
        out["memory after all pushes, times the middle"] = memory["rss_mb"][2] / memory["rss_mb"][1]
    return out
