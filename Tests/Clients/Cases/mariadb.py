#!/usr/bin/env python3
"""A MariaDB server with the sample shop, for tests of the clients against a gateway on MariaDB.

    python3 Tests/Clients/Cases/mariadb.py PROGRAM RULES

The server is in a temporary folder and on a socket alone. Its account `fieldmerge` has the documented rights only. The script
prints the URL for `--database`, and ends the server when its standard input ends.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

SHOP = pathlib.Path(__file__).resolve().parents[3] / "Samples/shop/mariadb.sql"
ACCOUNT = "'fieldmerge'@'localhost'"


def run(*command, text=None):
    done = subprocess.run([str(one) for one in command], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def main(program, rules):
    with tempfile.TemporaryDirectory() as folder:
        user, socket, data = run("id", "-un").strip(), f"{folder}/s", f"{folder}/data"
        run("mariadb-install-db", "--no-defaults", f"--user={user}", f"--datadir={data}",
            "--auth-root-authentication-method=normal", "--skip-test-db")
        client = ["--no-defaults", f"--socket={socket}", "-uroot"]
        server = subprocess.Popen(
            ["mariadbd", "--no-defaults", f"--user={user}", f"--datadir={data}", f"--socket={socket}", f"--pid-file={folder}/pid",
             f"--tmpdir={folder}", f"--log-error={folder}/log", "--skip-networking", "--skip-name-resolve"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while subprocess.run(["mariadb-admin", *client, "ping"], capture_output=True).returncode:
                if server.poll() is not None:
                    sys.exit(f"mariadbd did not start: {pathlib.Path(folder, 'log').read_text()[-2000:]}")
                time.sleep(0.05)
            sql = lambda text, *database: run("mariadb", *client, *database, text=text)
            sql(f"CREATE DATABASE shop; CREATE USER {ACCOUNT}")
            sql(SHOP.read_text(), "shop")
            root = f"mariadb://root@localhost/shop?socket={socket}"
            sql(run(program, "check", "--rules", rules, "--database", root, "--grants", "--grant-to", ACCOUNT))
            sql(run(program, "journal", "init", "--database", root, "--grant-to", ACCOUNT))
            print(root.replace("root", "fieldmerge"), flush=True)
            sys.stdin.read()
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
