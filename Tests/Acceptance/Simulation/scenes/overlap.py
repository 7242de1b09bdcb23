"""An older reading of the rules waits for a locked table while a later one ends. The later rules remain active."""

import subprocess
import time


def run(stage) -> None:
    name = stage.open(1, "slow")
    server, database = stage.engine.server, stage.engine.database
    locker = subprocess.Popen(
        ["mariadb", "--no-defaults", f"--socket={server.socket}", "-uroot", "-N", "-B", "--unbuffered", database],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    locker.stdin.write(f"LOCK TABLES {name} WRITE; SELECT 'locked';\n")
    locker.stdin.flush()
    locker.stdout.readline()
    try:
        # A gateway checks its files every two seconds.
        with open(stage.rule_file(name), "a") as file:
            file.write("# changed\n")
        if not stage.wait(lambda: waiting(server) == len(stage.place.gateways), "reading the rules that name a locked table"):
            return
        stage.rule_file(name).unlink()
        stage.place.reload()
        if not stage.wait(lambda: not any(stage.serves(index, name) for index in range(2)), "serving the later rules"):
            return
    finally:
        locker.stdin.close()
        locker.wait()
    stage.wait(lambda: waiting(server) == 0, "ending the older reading")
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        for index in range(len(stage.place.gateways)):
            if stage.serves(index, name):
                return stage.add(f"gateway {index} serves “{name}” again, whose file is gone")


def waiting(server) -> int:
    return int(server.sql("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'gateway' "
                          "AND STATE LIKE 'Waiting for table metadata lock%'"))
