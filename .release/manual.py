"""Writes the man page from what the program tells of its own options (--experimental-dump-help)."""

import json
import sys


def plain(text):
    """Text as roff shows it, whatever it begins with."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def spelled(argument):
    names = [("--" if name["kind"] == "long" else "-") + name["name"] for name in argument.get("names") or []]
    value = argument.get("valueName") or ""
    if argument["kind"] == "positional":
        return f"<{value}>"
    return ", ".join(names) + (f" <{value}>" if argument["kind"] == "option" else "")


def options(command):
    for argument in command.get("arguments") or []:
        if argument.get("shouldDisplay", True):
            yield f".TP\n.B {plain(spelled(argument))}\n{plain(argument.get('abstract') or '')}"


def section(command, path):
    name = " ".join(path)
    yield f".SS {plain(name)}"
    yield plain(command.get("abstract") or "")
    if command.get("discussion"):
        yield ".PP\n" + plain(command["discussion"])
    yield from options(command)
    for sub in command.get("subcommands") or []:
        if sub["commandName"] != "help":
            yield from section(sub, path + [sub["commandName"]])


def page(dump, version, date):
    command = dump["command"]
    name = command["commandName"]
    yield f'.TH {name.upper()} 1 "{date}" "{name} {version}" "User Commands"'
    yield f".SH NAME\n{name} \\- {plain(command['abstract'][0].lower() + command['abstract'][1:].rstrip('.'))}"
    yield f".SH SYNOPSIS\n.B {name}\n<command> [options]"
    yield ".SH DESCRIPTION\n" + plain(
        "A gateway over HTTP in front of an existing MariaDB, MySQL or SQLite database. Clients that were offline send "
        "for each thing that they changed the old and the new value; they are merged with what the database holds by now.")
    yield ".SH COMMANDS"
    for sub in command.get("subcommands") or []:
        if sub["commandName"] != "help":
            yield from section(sub, [name, sub["commandName"]])
    yield ".SH ENVIRONMENT\n" + plain(
        "Every option of serve can be set as FIELDMERGE_ and its name in capitals, such as FIELDMERGE_LOG_LEVEL; the "
        "command line comes first, then the environment, then the settings file.")
    yield ".SH FILES\n.TP\n.I /etc/fieldmerge/fieldmerge.yaml\nSettings of the service."
    yield ".TP\n.I /etc/fieldmerge/rules\nIts rule files."
    yield ".TP\n.I /etc/fieldmerge/database\\-password\nThe password of the database's user, on the first line; for root alone."


print("\n".join(page(json.load(sys.stdin), sys.argv[1], sys.argv[2])))
