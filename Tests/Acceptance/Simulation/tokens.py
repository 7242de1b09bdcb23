"""The tokens of the clients, with roles and claims that change while the gateways run."""

import json
import re
from pathlib import Path

from processes import run
from world import AREAS, CLIENTS


class Tokens:
    """A change counts at once for gateways, and at the next quiet point for the checks."""

    def __init__(self, binary: Path, file: Path, has_roles: bool):
        self.file, self.has_roles = file, has_roles
        self.secrets, self.hashes, self.withdrawn = {}, {}, set()
        self.settings = {client["name"]: dict(client) for client in CLIENTS}
        # The roles and areas of each client since the last quiet point.
        self.seen = {}
        for client in CLIENTS:
            words = run([binary, "token", "new", "--name", client["name"]]).split()
            self.secrets[client["name"]] = next(word for word in words if word.startswith("fm_"))
            self.hashes[client["name"]] = next(word for word in words if word.startswith("sha256:"))
        self.forget_past()
        self.write()

    def write(self) -> None:
        lines = []
        for name, client in self.settings.items():
            if name not in self.withdrawn:
                rights = "read,write,operator" if client["operator"] else "read,write"
                claims = json.dumps({"areas": client["areas"]})
                lines.append(f"{name} {rights} {self.hashes[name]} roles={client['role']} claims={claims}\n")
        other = self.file.with_suffix(".new")
        other.write_text("".join(lines))
        other.replace(self.file)

    def change(self, name: str, **settings) -> None:
        self.settings[name].update(settings)
        self.see(name)
        self.write()

    def withdraw(self, name: str, is_withdrawn: bool) -> None:
        (self.withdrawn.add if is_withdrawn else self.withdrawn.discard)(name)
        self.write()

    # MARK: The rights of a client

    def see(self, name: str) -> None:
        client = self.settings[name]
        self.seen.setdefault(name, []).append((client["role"], set(client["areas"])))

    def forget_past(self) -> None:
        """A quiet point: only the present settings count."""
        self.seen = {}
        for name in self.settings:
            self.see(name)

    def has_changed(self, name: str) -> bool:
        """True if the client may have read other rows than at the last quiet point."""
        return len(self.seen[name]) > 1

    def is_clerk(self, name: str) -> bool:
        return self.has_roles and self.settings[name]["role"] == "clerk"

    def forbidden(self, name: str):
        """A pattern of the canaries that no answer to the client may contain; None if it may read all."""
        if not self.has_roles or any(role != "clerk" for role, _ in self.seen[name]):
            return None
        return forbidden(set.union(*(areas for _, areas in self.seen[name])))


def forbidden(areas) -> re.Pattern:
    """The canaries that no answer to a clerk of these areas may contain."""
    others = "".join(str(area) for area in AREAS if area not in areas)
    return re.compile(rf"SECRET-\w*|PIN-\w*" + (rf"|AREA[{others}]-\w*" if others else ""))
