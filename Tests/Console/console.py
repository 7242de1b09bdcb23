#!/usr/bin/env python3
"""Uses the console in Chromium, with the real gateway on SQLite and MariaDB.

Needs Debian's `chromium` and `mariadb-server`, Playwright and axe (`pip install playwright axe-playwright-python`):

    ./Tests/run console
    python3 Tests/Console/console.py [--engine sqlite|mariadb] [NAME ...]

With FIELDMERGE_CONSOLE_SOURCES=1 the files of the console are those of the source tree instead of those in the program.

Each scene has a new gateway, and fails on an error in a page's console, a violation of the Content-Security-Policy, or a
violation that axe finds.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile
import time

import axe_playwright_python
from playwright.sync_api import expect, sync_playwright

from gateways import ROOT, Gateway, fill, wait_until

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SOURCES = ROOT / "Sources/console"
LARGEST = 150_000
AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
          "form-action 'none'; frame-ancestors 'none'")
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
PAGES = {"Overview": "#/overview", "Conflicts": "#/conflicts", "shoppers 123": "#/record/shoppers/123", "Refused": "#/refused",
         "Rules": "#/rules?resource=shoppers", "Devices": "#/devices", "Health": "#/health"}
SCENES = {}
expect.set_options(timeout=15000)


def scene(body):
    SCENES[body.__name__] = body
    return body


class Stage:
    """A browser with a gateway. Errors of pages are collected."""

    def __init__(self, browser, gateway):
        self.browser, self.gateway, self.errors, self.contexts = browser, gateway, [], []

    def serve(self, route):
        name = route.request.url.split("?")[0].split("#")[0].rsplit("/console/", 1)[1] or "index.html"
        file = SOURCES / name
        route.fulfill(status=200, body=file.read_bytes(), headers={
            "Content-Type": f"{TYPES[file.suffix]}; charset=utf-8", "Content-Security-Policy": POLICY, "Cache-Control": "no-store"})

    def page(self, place="", who="ops", **options):
        context = self.browser.new_context(**{"viewport": DESKTOP, "locale": "en-GB", "color_scheme": "light", **options})
        self.contexts.append(context)
        if os.environ.get("FIELDMERGE_CONSOLE_SOURCES"):
            context.route("**/console/**", self.serve)
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self.note(line))
        page.goto(f"{self.gateway.url}/console/{place}")
        if who:
            self.sign_in(page, who)
        return page

    def sign_in(self, page, who):
        page.get_by_label("Operator token").fill(self.gateway.tokens[who])
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("navigation")).to_be_visible()

    def note(self, line):
        # The browser reports each refused request itself.
        if line.type in ("error", "warning") and not line.text.startswith("Failed to load resource: "):
            self.errors.append(line.text)

    def check(self, page, name):
        """Fails on a violation of the guidelines, and on a page that is wider than its window."""
        page.evaluate(AXE)
        for found in page.evaluate("axe.run()")["violations"]:
            self.errors.append(f"{name}: {found['id']}: {found['nodes'][0]['html'][:200]}")
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, f"{name} is {width} pixels too wide"


def shows(page, title):
    expect(page.get_by_role("heading", level=1, name=title, exact=True)).to_be_visible()


@scene
def signing_in(it):
    page = it.page(who=None)
    it.check(page, "Sign in")
    for text, message in (("wrong", "does not accept this token"), (it.gateway.tokens["ann"], "not an operator")):
        page.get_by_label("Operator token").fill(text)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text(message)
    it.sign_in(page, "ops")
    shows(page, "Overview")
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    page.reload()
    expect(page.get_by_label("Operator token")).to_be_visible()
    it.sign_in(page, "ops")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Operator token")).to_be_focused()


@scene
def every_page(it):
    for look, options in (("light", {}), ("dark", {"color_scheme": "dark"}), ("phone", {"viewport": PHONE, "is_mobile": True, "has_touch": True}),
                          ("200 %", {"viewport": {"width": 640, "height": 450}})):
        page = it.page(**options)
        for title, place in PAGES.items():
            page.evaluate("place => { location.hash = place; }", place)
            shows(page, title)
            expect(page.get_by_role("heading", level=1)).to_be_focused()
            assert page.title() == f"{title} · FieldMerge console"
            page.wait_for_load_state("networkidle")
            it.check(page, f"{title}, {look}")
    # An address is enough to come back.
    page = it.page("#/conflicts?resource=shoppers&outcome=server-won")
    expect(page.get_by_label("Outcome")).to_have_value("server-won")
    expect(page.locator(".card .badge").first).to_have_text(re.compile("Current value stayed"))


@scene
def only_the_keyboard(it):
    page = it.page()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.evaluate("document.querySelector('.skip').focus()")
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.get_by_role("link", name="Record").focus()
    page.keyboard.press("Enter")
    shows(page, "Record")
    page.evaluate("location.hash = '#/record/shoppers/123'")
    undo = page.get_by_role("button", name="Undo entry 2…")
    undo.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Undo entry 2")).to_be_focused()
    it.check(page, "Undo")
    page.keyboard.press("Escape")
    expect(undo).to_be_focused()


@scene
def live_conflicts(it):
    page = it.page("#/conflicts")
    cards = page.locator(".card")
    expect(cards.first).to_be_visible()
    before = cards.count()
    address = page.locator(".card", has_text="shoppers 123").locator("summary", has_text="customer.address")
    address.scroll_into_view_if_needed()
    expect(address).to_contain_text("ben (phone-2) overwrote ann (tablet-7).")
    it.gateway.merge("carla", "shoppers", 123, {"customer": {"firstName": {"old": "John", "new": "Jo"}}})
    expect(cards).to_have_count(before + 1)
    expect(page.get_by_role("status")).to_contain_text("1 new entry")
    page.get_by_role("button", name="Pause").click()
    it.gateway.merge("ben", "shoppers", 123, {"customer": {"firstName": {"old": "John", "new": "Joey"}}})
    page.wait_for_timeout(6000)
    expect(cards).to_have_count(before + 1)
    page.get_by_role("button", name="Continue").click()
    expect(cards).to_have_count(before + 2)
    cards.first.locator("summary").click()
    expect(cards.first.locator("td.written")).to_contain_text("Joey")
    page.get_by_label("Outcome").select_option("combined")
    expect(page).to_have_url(re.compile("outcome=combined"))
    expect(page.locator(".card .badge").first).to_have_text(re.compile("Combined"))
    it.check(page, "Conflicts with a filter")


@scene
def undoing(it):
    page = it.page("#/record/shoppers/123")
    street = lambda: it.gateway.get("/v1/records/shoppers/123")["customer"]["street"]
    assert street() == "12 Station Road"
    page.get_by_role("button", name="Undo entry 2…").click()
    dialog = page.get_by_role("dialog")
    for name in ("customer.notes", "customer.settings"):
        dialog.get_by_role("checkbox", name=name).uncheck()
    preview = dialog.locator(".preview")
    expect(preview).to_contain_text("7 Mill Lane")
    expect(preview).not_to_contain_text("customer notes")
    assert street() == "12 Station Road", "a preview writes nothing"
    dialog.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("status").first).to_have_text("Entry 2 is undone.")
    assert street() == "7 Mill Lane"
    expect(page.locator(".entry").first).to_contain_text("Undo of entry 2")


@scene
def another_program_overwrites(it):
    if it.gateway.server is None:
        return
    wait_until(lambda: (it.gateway.get("/readyz").get("feed") or {}).get("source") == "binlog")
    page = it.page("#/conflicts")
    expect(page.locator(".card").first).to_be_visible()
    it.gateway.merge("ann", "shoppers", 130, {"customer": {"phone": {"old": it.gateway.get("/v1/records/shoppers/130")["customer"]["phone"], "new": "111"}}})
    it.gateway.sql("UPDATE customers SET `Tel No.` = '222' WHERE customer_id = 130;")
    wait_until(lambda: it.gateway.get("/v1/journal?resource=shoppers&id=130&order=newest&limit=1")["entries"][0]["who"] == "foreign program")
    page.evaluate("location.hash = '#/record/shoppers/130'")
    shows(page, "shoppers 130")
    newest = page.locator(".entry").first
    expect(newest).to_contain_text("Another program")
    expect(newest).to_contain_text("222")
    it.check(page, "A foreign change")
    newest.get_by_role("button", name="Undo").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".preview")).to_contain_text("111")
    dialog.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("is undone.")
    assert it.gateway.get("/v1/records/shoppers/130")["customer"]["phone"] == "111"


@scene
def values_are_text_and_exact(it):
    it.gateway.merge("ann", "shoppers", 124, {"customer": {
        "notes": {"old": "", "new": "<img src=x onerror=alert(1)><b>bold</b>"},
        "settings": {"old": {}, "new": {"number": 9007199254740993, "__proto__": "<script>"}}}})
    page = it.page("#/record/shoppers/124")
    expect(page.locator(".entry").first).to_contain_text("<img src=x onerror=alert(1)><b>bold</b>")
    expect(page.locator(".entry").first).to_contain_text("9007199254740993")
    assert page.locator("main img, main b, main script").count() == 0


@scene
def refused_pushes(it):
    entries = lambda more="": it.gateway.get(f"/v1/journal?refused=true{more}")["entries"]
    seeds, bulbs = [entry["number"] for entry in entries("&code=foreign-key")]
    page = it.page(f"#/refused/{seeds}")
    expect(page.locator("table")).to_contain_text("Seeds")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".preview")).to_contain_text("Refused")
    page.get_by_text("Edit the push").click()
    text = page.get_by_label("The push as JSON")
    text.fill(text.input_value().replace("99", "5"))
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".preview")).to_contain_text("Merged")
    it.check(page, "A refused push")
    page.get_by_role("button", name="Resend").click()
    expect(page.get_by_text("The push is merged.")).to_be_visible()
    assert "Seeds" in [row["name"] for row in it.gateway.get("/v1/records/shoppers/124")["groceries"]]
    # In bulk: a cause is gone, and all pushes of the reason are sent.
    it.gateway.sql("INSERT INTO aisles (AISLE_ID, name) VALUES (99, 'Garden');")
    page.evaluate("location.hash = '#/refused?code=foreign-key'")
    page.get_by_label("Choose all of").check()
    page.get_by_role("button", name="Resend…").click()
    it.check(page, "Resend in bulk")
    page.get_by_role("button", name="Resend 1 push").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 of 1 merged.")
    page.get_by_role("button", name="Close", exact=True).last.click()
    expect(page.get_by_text("No refused push waits")).to_be_visible()
    page.evaluate("location.hash = '#/refused'")
    expect(page.get_by_label(re.compile("^Choose all of")).first).to_be_attached()
    for box in page.get_by_label(re.compile("^Choose all of")).all():
        box.evaluate("box => { box.closest('details').open = true; }")
        box.check()
    page.get_by_role("button", name="Drop…").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Drop ")).click()
    expect(page.get_by_role("dialog")).to_contain_text("dropped.")
    page.get_by_role("button", name="Close", exact=True).last.click()
    expect(page.get_by_text("No refused push waits")).to_be_visible()
    assert [entry for entry in entries() if not entry["refused"]["replayed"]] == []
    assert len([entry for entry in entries("&settled=true") if "dropped" in entry["refused"]]) == 3


@scene
def trying_rules(it):
    files = [{"name": file.name, "mimeType": "text/yaml", "buffer": file.read_bytes()} for file in sorted((ROOT / "MergeRules").glob("*.yaml"))]
    page = it.page("#/rules")
    page.get_by_label("Rule files").set_input_files(files)
    page.get_by_role("button", name="Rehearse").click()
    expect(page.get_by_text("No outcome differs.")).to_be_visible()
    for file in files:
        file["buffer"] = file["buffer"].replace(b"firstName: first_name", b"firstName: {column: first_name, on-conflict: reject}")
    page.get_by_label("Rule files").set_input_files(files)
    page.get_by_role("button", name="Rehearse").click()
    expect(page.get_by_text(re.compile(r"^\d+ outcomes differ\.$"))).to_be_visible()
    page.locator(".card summary").first.click()
    it.check(page, "A rehearsal")
    files[0]["buffer"] = b"nonsense: true\n"
    page.get_by_label("Rule files").set_input_files(files)
    page.get_by_role("button", name="Rehearse").click()
    expect(page.locator(".notice.bad")).to_be_visible()
    panel = page.get_by_role("region", name="Explain an edit")
    panel.get_by_label("Resource").select_option("shoppers")
    panel.get_by_label("Record", exact=True).fill("123")
    panel.get_by_role("button", name="Read the record").click()
    panel.get_by_label("creditLimit, Current").fill("70.00")
    panel.get_by_label("creditLimit, Edited").fill("60.00")
    panel.get_by_role("button", name="Explain").click()
    expect(panel.locator(".group")).to_contain_text("Current value stayed")
    panel.get_by_text("groceries", exact=True).click()
    row = panel.locator("details.row").first
    row.locator("summary").click()
    row.get_by_label("row exists, Edited").uncheck()
    row.get_by_label("quantity, Current").fill("7 packs")
    panel.get_by_role("button", name="Add a row").click()
    panel.get_by_label("groceries tmp:1: name, Edited").fill("Figs")
    panel.get_by_label("groceries tmp:1: quantity, Edited").fill("1 box")
    panel.get_by_role("button", name="Explain").click()
    expect(panel.locator(".group", has_text="tmp:1")).to_contain_text("Figs")
    expect(panel.locator(".group")).to_have_count(3)
    it.check(page, "An explanation of rows")


@scene
def reading_only(it):
    it.gateway.stop()
    it.gateway.start("read-only")
    page = it.page("#/record/shoppers/123")
    expect(page.locator(".bar .badge", has_text="Read-only")).to_be_visible()
    page.get_by_role("button", name="Undo entry 2…").click()
    expect(page.get_by_role("dialog").locator(".preview")).to_contain_text("This will change")
    expect(page.get_by_role("dialog").get_by_role("button", name="Undo", exact=True)).to_be_disabled()
    number = it.gateway.get("/v1/journal?refused=true")["entries"][0]["number"]
    for path in ("/v1/journal/2/undo", f"/v1/journal/{number}/resend", f"/v1/journal/{number}/drop"):
        answer = page.evaluate("""([path, token]) => fetch(path, { method: 'POST', body: '{}', headers: { 'X-Console': '1',
            'Content-Type': 'application/json', Authorization: `Bearer ${token}` } }).then((answer) => answer.json())""", [path, it.gateway.tokens["ops"]])
        assert answer["code"] == "console-read-only", answer


@scene
def another_origin(it):
    for origin in ("http://evil.example", None):
        headers = {"X-Console": "1", **({"Origin": origin} if origin else {})}
        status, answer = it.gateway.call("POST", "/v1/journal/2/undo", {}, headers=headers)
        assert (status, answer["code"]) == (403, "strange-origin"), answer


@scene
def the_database_stops(it):
    if it.gateway.server is None:
        return
    page = it.page("#/conflicts")
    expect(page.locator(".card").first).to_be_visible()
    it.gateway.server.stop()
    expect(page.locator(".failure")).to_be_visible()
    it.check(page, "Conflicts without a database")
    page.evaluate("location.hash = '#/overview'")
    expect(page.locator(".banner.bad, .failure")).to_be_visible()
    it.gateway.server.start()
    expect(page.locator(".banner.good")).to_be_visible(timeout=60000)
    page.evaluate("location.hash = '#/conflicts'")
    expect(page.locator(".card").first).to_be_visible()
    expect(page.locator(".failure")).to_have_count(0)


@scene
def a_large_journal(it):
    rows = it.gateway.multiply_journal(100_000)
    page = it.page()
    slowest = []
    for title, place in {**PAGES, "Conflicts ": "#/conflicts?outcome=rejected"}.items():
        it.gateway.server_times()
        page.evaluate("place => { location.hash = place; }", place)
        shows(page, title.strip())
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)
        times = it.gateway.server_times()
        path = max(times, key=times.get, default=None)
        slowest.append(f"{title.strip()} {times[path]:.0f} ms ({path})" if path else title)
    return f"{rows:,} entries; slowest request of each page: " + ", ".join(slowest)


@scene
def small_files(it):
    sizes = sum(file.stat().st_size for file in SOURCES.iterdir() if file.suffix in TYPES)
    assert sizes <= LARGEST, f"the console has {sizes:,} bytes"
    return f"{sizes:,} bytes"


def main():
    parser = argparse.ArgumentParser(description="Uses the console in Chromium.")
    parser.add_argument("--engine", choices=["sqlite", "mariadb"], action="append")
    parser.add_argument("names", nargs="*", choices=[[], *SCENES])
    arguments = parser.parse_args()
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for engine in arguments.engine or ["sqlite", "mariadb"]:
            for name in arguments.names or SCENES:
                began = time.time()
                with tempfile.TemporaryDirectory() as folder:
                    gateway = Gateway(folder, engine)
                    fill(gateway)
                    stage = Stage(browser, gateway)
                    try:
                        note = SCENES[name](stage)
                        assert not stage.errors, "\n".join(stage.errors)
                        print(f"{engine} {name}: {time.time() - began:.1f} s{'; ' + note if note else ''}", flush=True)
                    except Exception as error:
                        failed += 1
                        print(f"{engine} {name} FAILED: {str(error)[:2000]}\n{chr(10).join(stage.errors)}", flush=True)
                    finally:
                        for context in stage.contexts:
                            context.close()
                        gateway.close()
        browser.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
