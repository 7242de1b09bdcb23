"""The table and the machine."""

import os
import platform
from pathlib import Path

HEADINGS = (f"{'':<18}{'clients':>8}{'rows':>6}{'/s':>10}{'ratio':>7}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}"
            f"{'gateway':>9}{'server':>8}{'client':>8}{'peak MB':>9}")


def machine(server_version: str) -> dict:
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": len(os.sched_getaffinity(0)), "processor": model, "memory_gb": round(pages / 2**30, 1),
        "kernel": platform.release(), "mariadb": server_version,
    }


def machine_line(facts: dict) -> str:
    return (f"{facts['cores']} cores ({facts['processor']}), {facts['memory_gb']} GB, Linux {facts['kernel']}, "
            f"MariaDB {facts['mariadb']}")


def number(value, width: int, digits: int) -> str:
    return f"{value:>{width},.{digits}f}" if value is not None else " " * width


def line(figure: dict) -> str:
    """A figure as a line of the table. Processor time is µs for each merge or read record."""
    cpu = figure.get("cpu_us", {})
    out = (f"{figure['name']:<18}{figure['clients']:>8,}{figure['batch']:>6,}"
           + number(figure.get("per_second"), 10, 0) + number(figure.get("ratio"), 7, 2)
           + "".join(number(figure.get(name), 9, 2) for name in ("p50_ms", "p99_ms", "max_ms"))
           + number(cpu.get("gateway"), 9, 1) + number(cpu.get("server"), 8, 1)
           + number(cpu.get("generator"), 8, 1) + number(figure.get("peak_mb"), 9, 1))
    if figure["name"] == "memory":
        out += "   resident at start, middle, end: " + ", ".join(f"{mb:.1f}" for mb in figure["rss_mb"]) + " MB"
    if "idle_mb" in figure:
        out += f"   {figure['idle_mb']:.1f} MB for the connections"
    return out


def core_line(figure: dict) -> str:
    return f"{figure['name']:<44}{figure['ns']:>14,.0f} ns{figure['allocations']:>12,.1f} allocations"
