"""The database, the rules, the tokens, and the gateways that are attacked."""

import base64
import http.client
import json
import random
import socket
from pathlib import Path

from processes import MariaDB, Process, run

ROWS = 64
LARGE_ROWS, LARGE_BYTES = 500, 100_000
ITEMS = 9_900
ORDERS = 2_000
ISSUER, AUDIENCE = "https://id.example.com/", "fieldmerge"

SQL = f"""
CREATE TABLE things (id INT PRIMARY KEY, n BIGINT NOT NULL, label VARCHAR(200) NOT NULL) ENGINE=InnoDB;
INSERT INTO things SELECT seq, 0, REPEAT('x', 100) FROM seq_1_to_{ROWS};
CREATE TABLE docs (id INT AUTO_INCREMENT PRIMARY KEY, txt LONGTEXT, tree LONGTEXT, secret VARCHAR(200),
  n INT NOT NULL DEFAULT 0) ENGINE=InnoDB;
INSERT INTO docs (id, txt, tree, secret) SELECT seq, 'a', '{{}}', 's' FROM seq_1_to_20;
CREATE TABLE large (id INT PRIMARY KEY, txt LONGTEXT NOT NULL) ENGINE=InnoDB;
INSERT INTO large SELECT seq, REPEAT('y', {LARGE_BYTES}) FROM seq_1_to_{LARGE_ROWS};
INSERT INTO large VALUES (1000000, REPEAT('z', 1000000));
CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(200) NOT NULL) ENGINE=InnoDB;
CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, order_id INT NOT NULL, a VARCHAR(40) NOT NULL DEFAULT '',
  b VARCHAR(40) NOT NULL DEFAULT '', KEY (order_id), FOREIGN KEY (order_id) REFERENCES orders (id)) ENGINE=InnoDB;
INSERT INTO orders SELECT seq, 'o' FROM seq_1_to_{ORDERS};
INSERT INTO items (id, order_id, a, b) SELECT seq, 1, 'a', 'b' FROM seq_1_to_{ITEMS};
"""

RULES = {
    "things": """
resource: things
sections:
  thing: {table: things, groups: {n: {column: n, merge: add}, label: label}}
""",
    "docs": """
resource: docs
sections:
  doc:
    table: docs
    groups:
      text: {column: txt, merge: text, on-conflict: server-wins}
      tree: {column: tree, type: json, merge: json, on-conflict: server-wins}
      secret: {column: secret, private: true}
      n: n
    checks: [{name: small, sql: n < 1000, fields: [n]}]
""",
    "large": """
resource: large
sections:
  row: {table: large, groups: {txt: txt}}
""",
    "orders": """
resource: orders
sections:
  order: {table: orders, groups: {name: name}}
  items: {list: true, table: items, parent: {order_id: id}, on-missing: restore, groups: {a: a, b: b}}
""",
}


class Place:
    """A MariaDB server with its tables, a journal and a user with the documented rights."""

    NORMAL = 8

    def __init__(self, binary: Path, folder: Path):
        self.binary, self.folder = binary, folder
        self.rules = folder / "rules"
        self.rules.mkdir()
        for name, text in RULES.items():
            (self.rules / f"{name}.yaml").write_text(text.lstrip())
        self.make_tokens()
        self.server = MariaDB(folder)
        self.server.sql(SQL)
        for table in ("things", "docs", "large", "orders", "items"):
            self.server.grant(f"bench.{table}")
        self.server.make_journal(binary, "fieldmerge")
        self.acknowledged = 0

    def make_tokens(self) -> None:
        """One token for each normal client, another for the hostile one, and the key set of an identity provider."""
        lines, self.normal = [], []
        for name in [f"tablet-{number}" for number in range(self.NORMAL)] + ["sender"]:
            printed = run([self.binary, "token", "new", "--name", name]).splitlines()
            lines.append(printed[3].strip())
            self.normal.append(printed[1].strip())
        self.hostile = self.normal.pop()
        (self.folder / "tokens").write_text("\n".join(lines) + "\n")
        key = self.folder / "key.pem"
        run(["openssl", "genrsa", "-out", key, "2048"])
        modulus = run(["openssl", "rsa", "-in", key, "-noout", "-modulus"]).strip().partition("=")[2]
        text = base64.urlsafe_b64encode(bytes.fromhex(modulus)).decode().rstrip("=")
        keys = {"keys": [{"kty": "RSA", "kid": "one", "alg": "RS256", "use": "sig", "n": text, "e": "AQAB"}]}
        (self.folder / "keys.json").write_text(json.dumps(keys))

    def gateway(self) -> "Served":
        """A gateway with the limits that it has by default."""
        return Served(self)

    def sum(self) -> int:
        """The additions that are stored."""
        return int(self.server.sql("SELECT SUM(n) FROM things"))

    def renew(self) -> None:
        """Resets the rows that an attack has changed, so that the next one has the same start."""
        self.server.sql(
            f"DELETE FROM items WHERE id > {ITEMS} OR order_id <> 1; DELETE FROM docs WHERE id > 20;"
            "UPDATE items SET a = 'a', b = 'b'; UPDATE docs SET txt = 'a', tree = '{}', n = 0;")

    def stop(self) -> None:
        self.server.stop()


class Served(Process):
    """One gateway on a free port."""

    count = 0

    def __init__(self, place: Place):
        Served.count += 1
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        super().__init__(
            [place.binary, "serve", "--database", place.server.url(MariaDB.USER), "--rules", place.rules,
             "--tokens", place.folder / "tokens", "--jwt-keys", place.folder / "keys.json", "--jwt-issuer", ISSUER,
             "--jwt-audience", AUDIENCE, "--listen", f"127.0.0.1:{self.port}", "--log-level", "warning"],
            place.folder / f"gateway-{Served.count}.log")
        self.wait_until(self.is_ready)

    def is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None


def noise(count: int, seed: int) -> str:
    """Letters that gzip cannot pack to less than three quarters."""
    return base64.b64encode(random.Random(seed).randbytes(count * 3 // 4)).decode()
