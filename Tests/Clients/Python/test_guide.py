"""The guide's examples, run in their order against the real gateway."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

from support import ROOT
from test_gateway import PROGRAM, GatewayCase

GUIDE = ROOT / "Sources" / "fieldmerge" / "Guides" / "Offline-Python.md"


class GuideTests(GatewayCase):
    def test_the_examples_do_what_they_say(self) -> None:
        blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        text = "\n".join(blocks).replace("http://127.0.0.1:8080", self.gateway.url)
        printed = io.StringIO()
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
            os.chdir(folder)
            sys.path.insert(0, folder)
            try:
                types = ["types", "--language", "python", "--server", self.gateway.url, "--out", "shop.py"]
                subprocess.run([PROGRAM, *types], check=True)
                exec(compile(text, str(GUIDE), "exec"), {})
            finally:
                sys.path.remove(folder)
                os.chdir(before)
        lines = printed.getvalue().splitlines()
        self.assertEqual(lines[:4], [
            "idle", "Joe ['Beans', 'Tea']",
            "customer.fistName: there is no “fistName”; did you mean “firstName”?", "draft 1",
        ])  # fmt: skip
        self.assertEqual(lines[4], "merged")
        self.assertTrue(lines[5].startswith("tmp:"))
        self.assertTrue(lines[6].isdigit())
        self.assertEqual(lines[7:9], ["[123] None", "3"])
        self.assertEqual(self.gateway.query("SELECT street FROM customers WHERE customer_id = 123"), [("2 High St",)])


del GatewayCase


if __name__ == "__main__":
    unittest.main()
