#!/usr/bin/env python3
"""Runs the JavaScript client in Chromium against the real gateway, to test behaviour that depends on a browser.

Needs Debian's `chromium`, `node-react` and `node-react-dom`, and Playwright (`pip install playwright`). Run by hand:

    python3 Tests/Clients/JavaScript/browser.py [NAME ...]

With FIELDMERGE_MODULES=Sources/clients/javascript the modules are those of this folder instead of those in the program,
which then need not be built for each change.

Each scene has a new gateway and a new profile, and fails on any error of the page's script.
"""

import http.server
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from playwright.sync_api import expect, sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("FIELDMERGE_PROGRAM", str(ROOT / ".build/debug/fieldmerge"))
MODULES = os.environ.get("FIELDMERGE_MODULES")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")

PAGE = """<!doctype html><meta charset="utf-8"><title>shop</title><link rel="icon" href="data:,"><script type="module">
import { open } from "%(modules)s/fieldmerge.js";
window.seen = [];
window.begin = async (more = {}) => {
  window.store = await open({ server: "%(gateway)s", user: "ann", client: "browser-tests/1.0", ...more });
  for (const type of ["conflict", "overtaken", "refused", "gone", "status"]) store.addEventListener(type, (event) => seen.push([type, event.detail.phase ?? event.detail.group]));
};
window.until = async (body) => { while (!(await body())) await new Promise((resolve) => setTimeout(resolve, 20)); };
window.isReady = true;
</script>"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Pages:
    """Serves the page of a scene from a different origin."""

    def __init__(self, gateway):
        # A page has to come from a real server. Chromium does not allow others to request a loopback address.
        self.port = free_port()
        self.modules = f"http://127.0.0.1:{self.port}/client" if MODULES else f"{gateway}/client"
        self.texts = texts = {"/": PAGE % {"gateway": gateway, "modules": self.modules}}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                is_module = MODULES is not None and self.path.startswith("/client/")
                text = (pathlib.Path(MODULES) / self.path[8:]).read_bytes() if is_module else texts.get(self.path, "").encode()
                self.send_response(200)
                kind = "javascript" if self.path.endswith(".js") else "html"
                self.send_header("Content-Type", f"text/{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Gateway:
    """The tested program on a new database."""

    def __init__(self, folder, *options, rules=ROOT / "MergeRules", sql=None):
        self.folder, self.port = pathlib.Path(folder), free_port()
        self.database = self.folder / "shop.sqlite"
        self.url = f"http://127.0.0.1:{self.port}"
        self.pages = Pages(self.url)
        self.origin = f"http://127.0.0.1:{self.pages.port}"
        with sqlite3.connect(self.database) as database:
            database.executescript(sql or (ROOT / "Samples/shop/sqlite.sql").read_text())
        self.command = [PROGRAM, "serve", "--database", f"sqlite:{self.database}", "--rules", str(rules),
                        "--listen", f"127.0.0.1:{self.port}", "--allow-origin", self.origin, *options]
        self.start()

    def start(self):
        self.log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)
        for _ in range(300):
            try:
                urllib.request.urlopen(self.url + "/readyz", timeout=2)
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError((self.folder / "log").read_text())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def get(self, path):
        with urllib.request.urlopen(self.url + path) as answer:
            return json.load(answer)

    def merge(self, resource, identity, changeset):
        body = json.dumps({"id": identity, "changeset": changeset}).encode()
        request = urllib.request.Request(f"{self.url}/v1/merge/{resource}", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


class Scene:
    """A browser with a gateway. Errors of pages are collected."""

    def __init__(self, browser, gateway):
        self.browser, self.gateway, self.errors, self.contexts = browser, gateway, [], []

    def device(self):
        context = self.browser.new_context()
        self.contexts.append(context)
        return context

    def tab(self, context, more="{}"):
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(self.gateway.origin + "/")
        page.wait_for_function("window.isReady")
        page.evaluate(f"begin({more})")
        return page


SCENES = {}


def scene(body):
    SCENES[body.__name__] = body
    return body


def first_name(page, number=123):
    return page.evaluate(f"store.record('shoppers', {number}).then((s) => s.customer.firstName)")


def set_first_name(page, name, number=123):
    page.evaluate(f"store.edit('shoppers', {number}, (s) => {{ s.customer.firstName = {json.dumps(name)}; }})")


@scene
def two_devices(it):
    one, other = [it.tab(it.device()) for _ in range(2)]
    for page in (one, other):
        page.evaluate("store.sync()")
    set_first_name(one, "Bob")
    set_first_name(other, "Joseph")
    one.evaluate("store.sync()")
    report = other.evaluate("store.sync()")
    assert report["conflicts"] == 1, report
    assert ["conflict", "firstName"] in other.evaluate("seen")
    one.evaluate("store.sync()")
    assert first_name(one) == first_name(other) == "Joseph"


@scene
def offline_switch(it):
    context = it.device()
    page = it.tab(context)
    page.evaluate("store.start()")
    page.evaluate("until(() => store.status.revision !== null && store.status.phase === 'idle')")
    context.set_offline(True)
    page.evaluate("until(() => store.status.phase === 'offline')")
    set_first_name(page, "Offline")
    page.close()
    context.set_offline(False)
    page = it.tab(context)
    context.set_offline(True)
    page.wait_for_function("navigator.onLine === false")
    assert first_name(page) == "Offline" and page.evaluate("store.status.unsent") == 1
    page.evaluate("store.start()")
    context.set_offline(False)
    page.evaluate("until(() => store.status.unsent === 0)")
    assert it.gateway.get("/v1/records/shoppers/123")["customer"]["firstName"] == "Offline"


@scene
def killed_in_the_middle_of_a_push(it):
    context = it.device()
    page = it.tab(context)
    page.evaluate("store.sync()")
    stock = it.gateway.get("/v1/records/articles/1")["article"]["stock"]
    arrived = []

    def swallow(route):
        arrived.append(route.fetch())  # the gateway has the request, and the page gets no answer

    page.route("**/v1/sync*", swallow)
    page.evaluate("store.edit('articles', 1, (a) => { a.article.stock += 3; })")
    page.evaluate("void store.sync()")
    while not arrived:
        page.wait_for_timeout(20)
    page.close(run_before_unload=False)
    assert it.gateway.get("/v1/records/articles/1")["article"]["stock"] == stock + 3
    page = it.tab(context)
    assert page.evaluate("store.status.unsent") == 1
    page.evaluate("store.sync()")
    assert page.evaluate("store.status.unsent") == 0
    assert it.gateway.get("/v1/records/articles/1")["article"]["stock"] == stock + 3, "counted once"


@scene
def the_pushing_tab_is_frozen(it):
    context = it.device()
    tabs = [it.tab(context) for _ in range(3)]
    for page in tabs:
        page.evaluate("store.start()")
    tabs[0].evaluate("until(() => store.status.revision !== null)")
    for _ in range(200):
        leading = [page for page in tabs if page.evaluate("store.diagnose().then((d) => d.isLeading)")]
        if leading:
            break
        tabs[0].wait_for_timeout(20)
    assert len(leading) == 1
    rest = [page for page in tabs if page is not leading[0]]
    # Another tab pushes the edits of a tab that does not lead, and sends its other requests.
    asked = []
    rest[0].on("request", lambda request: asked.append(request.url))
    set_first_name(rest[0], "Tab")
    assert rest[0].evaluate("store.sync()")["phase"] == "idle"
    rest[0].evaluate("until(() => store.status.unsent === 0)")
    assert not [url for url in asked if "/v1/" in url], asked
    # Chromium never freezes a tab that has a lock, so the test stops it.
    devtools = context.new_cdp_session(leading[0])
    stopped = []
    devtools.on("Debugger.paused", lambda _: stopped.append(True))
    devtools.send("Debugger.enable")
    devtools.send("Debugger.pause")
    while not stopped:
        rest[0].wait_for_timeout(20)
    began = time.time()
    set_first_name(rest[1], "Thaw")
    assert rest[1].evaluate("store.sync()")["phase"] == "idle"
    rest[1].evaluate("until(() => store.status.unsent === 0)")
    took = time.time() - began
    assert it.gateway.get("/v1/records/shoppers/123")["customer"]["firstName"] == "Thaw"
    devtools.send("Debugger.resume")
    devtools.send("Debugger.disable")
    leading[0].evaluate("until(async () => !(await store.diagnose()).isLeading)")
    assert first_name(leading[0]) == "Thaw"
    return f"taken over after {took:.0f} s"


@scene
def storage_wiped(it):
    context = it.device()
    page = it.tab(context)
    page.evaluate("store.start()")
    page.evaluate("until(() => store.status.revision !== null && store.status.phase === 'idle')")
    page.evaluate("store.addEventListener('lost', (event) => { window.lost = event.detail; })")
    assert page.evaluate("typeof store.status.persisted") == "boolean"
    devtools = context.new_cdp_session(page)
    page.evaluate("store.stop()")
    set_first_name(page, "Lost")
    devtools.send("Storage.clearDataForOrigin", {"origin": it.gateway.origin, "storageTypes": "all"})
    page.evaluate("store.sync()")
    page.evaluate("until(async () => (await store.record('shoppers', 123)) !== null)")
    page.evaluate("until(() => window.lost)")
    assert page.evaluate("lost") == {"unsent": 1}, page.evaluate("lost")
    set_first_name(page, "Again")
    page.evaluate("store.sync()")
    assert it.gateway.get("/v1/records/shoppers/123")["customer"]["firstName"] == "Again"
    # Only the database is deleted while no page is open. The page's local storage shows this.
    for name in ("One", "Two"):
        page.evaluate(f"store.edit('shoppers', {123 if name == 'One' else 124}, (s) => {{ s.customer.firstName = '{name}'; }})")
    page.evaluate("store.close()")
    devtools.send("Storage.clearDataForOrigin", {"origin": it.gateway.origin, "storageTypes": "indexeddb"})
    page.close()
    page = it.tab(context)
    page.evaluate("store.addEventListener('lost', (event) => { window.lost = event.detail; })")
    page.evaluate("until(() => window.lost)")
    assert page.evaluate("lost") == {"unsent": 2}
    page.close()
    page = it.tab(context)
    page.evaluate("store.addEventListener('lost', (event) => { window.lost = event.detail; })")
    page.evaluate("store.sync()")
    assert page.evaluate("window.lost") is None, "once"


@scene
def sign_out(it):
    context = it.device()
    page, other = it.tab(context), it.tab(context)
    page.evaluate("store.sync()")
    set_first_name(page, "Leaving")
    refused = page.evaluate("store.signOut().catch((error) => [error.code, error.unsent])")
    assert refused == ["unsent", 1], refused
    page.evaluate("store.signOut({ unsent: 'send' })")
    assert it.gateway.get("/v1/records/shoppers/123")["customer"]["firstName"] == "Leaving"
    late = "store.edit('shoppers', 123, (s) => { s.customer.firstName = 'Late'; }).catch((error) => error.code)"
    assert page.evaluate(late) == other.evaluate(late) == "closed"
    assert page.evaluate("indexedDB.databases()") == [] and page.evaluate("localStorage.length") == 0
    page.close()
    page = it.tab(context)
    page.evaluate("store.addEventListener('lost', (event) => { window.lost = event.detail; })")
    page.evaluate("store.sync()")
    assert page.evaluate("window.lost") is None and first_name(page) == "Leaving"


@scene
def slow_uplink(it):
    context = it.device()
    page = it.tab(context)
    page.evaluate("store.start()")
    page.evaluate("until(() => store.status.revision !== null && store.status.phase === 'idle')")
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", {"offline": False, "latency": 20, "downloadThroughput": 1e6, "uploadThroughput": 80000})
    photo = "Array.from({ length: 800000 }, () => Math.floor(Math.random() * 36).toString(36)).join('')"
    began = time.time()
    page.evaluate(f"store.edit('items', 1, (i) => {{ i.item.note = {photo}; }})")
    page.evaluate("until(() => store.status.phase === 'pushing')")
    page.evaluate("store.edit('items', 2, (i) => { i.item.note = 'small'; })")
    page.evaluate("until(() => store.status.unsent === 1)")
    small = time.time() - began
    assert it.gateway.get("/v1/records/items/2")["item"]["note"] == "small", (small, page.evaluate("store.status"))
    assert len(it.gateway.get("/v1/records/items/1")["item"]["note"]) < 1000, "the large push is under way"
    page.evaluate("until(() => store.status.unsent === 0)")
    assert len(it.gateway.get("/v1/records/items/1")["item"]["note"]) == 800000
    return f"a small push after {small:.1f} s, a large one after {time.time() - began:.1f} s"


@scene
def a_long_queue(it):
    page = it.tab(it.device())
    page.evaluate("store.sync()")
    return page.evaluate("""(async () => {
      let slowest = 0, isOver = false, from = performance.now();
      for (let id = 1; id <= 1000; id++) await store.edit("items", id, (i) => { i.item.note = `edited ${id}`; });
      for (let id = 0; id < 500; id++) await store.create("items", (i) => { i.item.name = `made ${id}`; });
      const edited = performance.now() - from;
      from = performance.now();
      const sent = store.sync().then(() => { isOver = true; });
      while (!isOver) {
        const from = performance.now();
        await store.record("items", 1);
        slowest = Math.max(slowest, performance.now() - from);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await sent;
      if (store.status.unsent) throw new Error(`${store.status.unsent} are unsent`);
      return `1,500 edits in ${Math.round(edited)} ms, sent in ${Math.round(performance.now() - from)} ms, slowest read meanwhile ${Math.round(slowest)} ms`;
    })()""")


EXACT_RULES = "resource: notes\nsections:\n  note:\n    table: notes\n    groups: {settings: {column: settings, merge: json}}\n"
EXACT_SQL = """CREATE TABLE notes (id INTEGER PRIMARY KEY, settings JSON);
INSERT INTO notes VALUES (1, '{"owner":9007199254740993,"color":"blue"}');"""


@scene
def exact_integers(it):
    context = it.device()
    page, other = it.tab(context), it.tab(context)
    for each in (page, other):
        each.evaluate("store.start()")
    page.evaluate("until(() => store.status.revision !== null)")
    other.evaluate("void store.observe('notes', 1, (note) => { window.note = note; })")
    owner = "store.record('notes', 1).then((note) => note.note.settings.owner === 9007199254740993n)"
    assert page.evaluate(owner)
    page.evaluate("store.edit('notes', 1, (note) => { note.note.settings.color = 'red'; })")
    assert page.evaluate(owner)
    other.evaluate("until(() => window.note?.note.settings.color === 'red' && note.note.settings.owner === 9007199254740993n)")
    page.evaluate("until(() => store.status.unsent === 0)")
    with sqlite3.connect(it.gateway.database) as database:
        [(text,)] = database.execute("SELECT settings FROM notes").fetchall()
    assert '"owner":9007199254740993' in text.replace(" ", "") and "red" in text, text


@scene
def a_database_of_the_first_version(it):
    context = it.device()
    page = it.tab(context)
    page.evaluate("store.sync()")
    set_first_name(page, "Kept")
    page.evaluate("store.close()")
    # The same values as the first version kept them: in one table.
    page.evaluate("""(async () => {
      const done = (request) => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
      const [{ name }] = await indexedDB.databases(), database = await done(indexedDB.open(name)), all = [];
      for (const table of database.objectStoreNames) {
        const values = database.transaction(table).objectStore(table);
        const [keys, found] = await Promise.all([done(values.getAllKeys()), done(values.getAll())]);
        all.push(...keys.map((key, index) => [key, found[index]]));
      }
      database.close();
      await done(indexedDB.deleteDatabase(name));
      const opening = indexedDB.open(name, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("values");
      const old = await done(opening), transaction = old.transaction("values", "readwrite");
      for (const [key, value] of all) if (!key[0].startsWith("n:")) {
        if (key[0] === "p") for (const part of ["key", "names"]) delete value[part];
        if (key[0] === "meta" && key[1] === "meta") value.form = 2;
        transaction.objectStore("values").put(value, key);
      }
      await new Promise((resolve) => { transaction.oncomplete = resolve; });
      old.close();
    })()""")
    page.close()
    page = it.tab(context)
    assert first_name(page) == "Kept" and page.evaluate("store.status.unsent") == 1
    page.evaluate("store.sync()")
    assert it.gateway.get("/v1/records/shoppers/123")["customer"]["firstName"] == "Kept"
    # Another tab opens the store with a newer version. This tab gets an event, and can still read.
    page.evaluate("""new Promise((resolve) => {
      indexedDB.databases().then(([{ name }]) => { const opening = indexedDB.open(name, 99); opening.onsuccess = () => { opening.result.close(); resolve(); }; });
    })""")
    newer = page.evaluate("store.edit('shoppers', 123, (s) => { s.customer.firstName = 'x'; }).catch((error) => error.code)")
    assert newer == "newer-store", newer
    count = page.evaluate("begin().catch((error) => error.export()).then((all) => all.length)")
    assert count > 10, count


@scene
def the_clock_moves_by_a_year(it):
    page = it.tab(it.device())
    page.evaluate("store.start()")
    page.evaluate("until(() => store.status.revision !== null && store.status.phase === 'idle')")
    for year in (1, -1):
        page.evaluate(f"(() => {{ const real = Date.now; Date.now = () => real() + {year} * 31536e6; }})()")
        set_first_name(page, f"Year{year}")
        page.evaluate("until(() => store.status.unsent === 0)")
        it.gateway.merge("shoppers", 124, {"customer": {"lastName": {"old": "Penrose", "new": f"Year{year}"}}})
        page.evaluate(f"until(async () => (await store.record('shoppers', 124)).customer.lastName === 'Year{year}')")


@scene
def the_server_is_restarted(it):
    page = it.tab(it.device())
    page.evaluate("store.start()")
    page.evaluate("until(() => store.status.revision !== null && store.status.phase === 'idle')")
    it.gateway.kill()
    set_first_name(page, "Patient")
    page.evaluate("until(() => store.status.phase === 'waiting')")
    it.gateway.start()
    page.evaluate("until(() => store.status.unsent === 0)")
    it.gateway.merge("shoppers", 124, {"customer": {"lastName": {"old": "Penrose", "new": "Live"}}})
    page.evaluate("until(async () => (await store.record('shoppers', 124)).customer.lastName === 'Live')")


@scene
def a_captive_portal(it):
    context = it.device()
    page = it.tab(context)
    page.evaluate("store.sync()")
    html = {"status": 200, "content_type": "text/html", "body": "<html><h1>Welcome to our hotel</h1>",
            "headers": {"Access-Control-Allow-Origin": "*"}}
    page.route("**/v1/**", lambda route: route.fulfill(**html))
    set_first_name(page, "Guest")
    assert page.evaluate("store.sync()")["phase"] == "waiting"
    assert page.evaluate("store.status.unsent") == 1
    page.unroute("**/v1/**")
    page.evaluate("store.sync()")
    assert it.gateway.get("/v1/records/shoppers/123")["customer"]["firstName"] == "Guest"


def with_tokens(folder, *rights):
    made = subprocess.run([PROGRAM, "token", "new", "--name", "ann", *rights], capture_output=True, text=True, check=True)
    words = made.stdout.split()
    secret = next(word for word in words if len(word) > 30 and ":" not in word and "=" not in word)
    line = next(text.strip() for text in made.stdout.splitlines() if "sha256:" in text)
    tokens = pathlib.Path(folder) / "tokens"
    tokens.write_text(line + "\n")
    return secret, ["--tokens", str(tokens), "--token-lifetime", "10"]


@scene
def the_token_expires(it):
    page = it.tab(it.device(), """{ token: async () => {
      window.asked = (window.asked ?? 0) + 1;
      const answer = await fetch("%s/v1/token", { method: "POST", headers: { Authorization: "Bearer %s" } });
      return (await answer.json()).accessToken;
    } }""" % (it.gateway.url, it.secret))
    page.evaluate("store.sync()")
    page.wait_for_timeout(10500)
    set_first_name(page, "Renewed")
    page.evaluate("store.sync()")
    assert page.evaluate("store.status.unsent") == 0 and page.evaluate("asked") == 2
    assert first_name(page) == "Renewed"


TODO = ROOT / "Samples/todo"
REACT = pathlib.Path(os.environ.get("REACT", "/usr/share/nodejs"))


@scene
def todo_in_60_lines(it):
    """The tutorial, with React from Debian: two devices, a gateway that is stopped, a conflict."""
    text = (TODO / "index.html").read_text()
    assert len(text.splitlines()) <= 60
    text = text.replace("http://127.0.0.1:8090/client/v1", it.gateway.pages.modules).replace("http://127.0.0.1:8090", it.gateway.url)
    it.gateway.pages.texts.update({"/todo/": text, "/bindings/react.js": (ROOT / "Samples/bindings/react.js").read_text()})

    def open_page(context):
        context.route("https://unpkg.com/**", lambda route: route.fulfill(path=REACT / route.request.url.split("/", 3)[3].replace("@18", "")))
        page = context.new_page()
        page.on("pageerror", lambda error: it.errors.append(str(error)))
        page.goto(it.gateway.origin + "/todo/")
        return page

    def titles(page, *expected):
        expect(page.locator("li")).to_have_count(len(expected))
        for index, title in enumerate(expected):
            expect(page.locator("li").nth(index).get_by_label("Title")).to_have_value(title)

    def add(page, title):
        page.get_by_placeholder("What is to do?").fill(title)
        page.get_by_role("button", name="Add").click()

    def rename(page, before, after):
        page.locator("li").filter(has=page.get_by_label(f"Done: {before}")).get_by_label("Title").fill(after)
        page.get_by_placeholder("What is to do?").focus()

    devices = [it.device(), it.device()]
    anna, ben = [open_page(context) for context in devices]
    expect(anna.get_by_role("status")).to_have_text("All saved")
    add(anna, "Buy rice")
    add(anna, "Call Joe")
    titles(ben, "Buy rice", "Call Joe")
    ben.get_by_label("Done: Buy rice").click()
    titles(anna, "Call Joe", "Buy rice")
    expect(anna.get_by_label("Done: Buy rice")).to_be_checked()
    it.gateway.kill()
    rename(anna, "Call Joe", "Call Bea")
    add(anna, "Sleep")
    titles(anna, "Call Bea", "Sleep", "Buy rice")
    expect(anna.get_by_role("status")).to_contain_text("2 not sent yet")
    anna.reload()
    titles(anna, "Call Bea", "Sleep", "Buy rice")
    rename(ben, "Call Joe", "Call Cem")
    ben.get_by_label("Delete Buy rice").click()
    titles(ben, "Call Cem")
    it.gateway.start()
    for page in (anna, ben):
        expect(page.get_by_role("status")).to_have_text("All saved")
        expect(page.locator("li")).to_have_count(2)
    left = [one["todo"]["title"] for one in it.gateway.get("/v1/records/todos")["records"]]
    assert left in (["Call Bea", "Sleep"], ["Call Cem", "Sleep"]), left
    for page in (anna, ben):
        titles(page, *left)
    anna.get_by_placeholder("Begins with…").fill("Sl")
    titles(anna, "Sleep")


@scene
def a_module_that_does_not_come(it):
    page = it.tab(it.device())
    page.route("**/client/exchange.js", lambda route: route.abort())
    report = page.evaluate("store.sync()")
    assert report["phase"] == "waiting" and report["problem"]["code"] == "lost", report
    page.unroute("**/client/exchange.js")
    assert page.evaluate("store.sync()")["phase"] == "idle"
    assert first_name(page) == "Joe"


@scene
def a_conflict_without_its_module(it):
    page, other = it.tab(it.device()), it.tab(it.device())
    for each in (page, other):
        each.evaluate("store.sync()")
    set_first_name(other, "Theirs")
    other.evaluate("store.sync()")
    set_first_name(page, "Mine")
    page.route("**/client/decisions.js", lambda route: route.abort())
    report = page.evaluate("store.sync()")
    assert report["phase"] == "waiting" and report["merged"] == 0, report
    assert page.evaluate("store.status.unsent") == 1, "nothing is stored of an answer that could not be understood"
    page.unroute("**/client/decisions.js")
    report = page.evaluate("store.sync()")
    assert (report["phase"], report["merged"], report["conflicts"]) == ("idle", 1, 1), report
    page.evaluate("until(() => seen.some(([type, group]) => type === 'conflict' && group === 'firstName'))")
    assert it.gateway.get("/v1/records/shoppers/123")["customer"]["firstName"] == "Mine"


def keep_files(it):
    """The service worker of the sample shop, with the files of the scene."""
    head, rest = (ROOT / "Samples/shop-web/worker.js").read_text().split("begin = [", 1)
    names = json.dumps(["./", f"{it.gateway.pages.modules}/fieldmerge.js"])
    it.gateway.pages.texts["/worker.js"] = f"{head}begin = {names}{rest.split(']', 1)[1]}"


@scene
def decisions_without_a_network(it):
    keep_files(it)
    context = it.device()
    page = it.tab(context)
    page.evaluate("navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => {})")
    page.evaluate("store.sync()")
    it.gateway.merge("shoppers", 123, {"customer": {"firstName": {"old": "Joe", "new": "Theirs"}}})
    name = page.evaluate("store.edit('shoppers', 123, (s) => { s.customer.firstName = 'Mine'; }).then((ticket) => ticket.name)")
    assert page.evaluate("store.sync()")["conflicts"] == 1  # the modules for conflicts are loaded, and no worker stores them yet
    page.close()
    page = it.tab(context)  # the modules of this tab are stored, and it loads those that its store needs
    page.wait_for_function("navigator.serviceWorker.controller")
    page.evaluate("store.sync()")
    page.close()
    it.gateway.kill()
    it.gateway.pages.stop()
    page = it.tab(context)
    page.evaluate(f"store.ticket('{name}').then((ticket) => ticket.outcome).then(({{ conflicts: [conflict] }}) => conflict.takeMine())")
    page.evaluate("store.edit('shoppers', 124, (s) => { s.customer.firstName = 'Later'; })")
    assert page.evaluate("store.status.unsent") == 1, "what stands is mine already"
    assert page.evaluate("store.refusedEdits()") == []


@scene
def the_service_worker(it):
    keep_files(it)
    context = it.device()
    page = it.tab(context)
    page.evaluate("navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => {})")
    page.close()
    page = it.tab(context)  # the modules of this tab are stored
    page.wait_for_function("navigator.serviceWorker.controller")
    page.evaluate("store.start()")
    page.evaluate("until(() => store.status.revision !== null && store.status.phase === 'idle')")
    page.close()
    it.gateway.kill()
    it.gateway.pages.stop()
    # The network hangs: connections are made, and nothing is answered.
    with socket.create_server(("127.0.0.1", it.gateway.pages.port)):
        page = it.tab(context)
        assert first_name(page) == "Joe"
        page.close()
    page = it.tab(context)
    assert first_name(page) == "Joe"
    set_first_name(page, "Cached")
    assert page.evaluate("store.sync()")["phase"] == "waiting"
    it.gateway.start()
    page.evaluate("store.sync()")
    assert it.gateway.get("/v1/records/shoppers/123")["customer"]["firstName"] == "Cached"


@scene
def sending_from_a_service_worker(it):
    it.gateway.pages.texts["/sync-worker.js"] = f"""import {{ open }} from "{it.gateway.pages.modules}/fieldmerge-worker.js";
addEventListener("message", (event) => event.waitUntil((async () => {{
  const store = await open({{ server: "{it.gateway.url}", user: "ann" }});
  const report = await store.sync(), conflicts = (await store.conflicts()).length;
  await store.close();
  event.source.postMessage({{ ...report, conflicts }});
}})()));"""
    page = it.tab(it.device())
    page.evaluate("store.sync()")
    set_first_name(page, "Worker")
    it.gateway.merge("shoppers", 123, {"customer": {"firstName": {"old": "Joe", "new": "Theirs"}}})
    report = page.evaluate("""(async () => {
      const answer = new Promise((resolve) => navigator.serviceWorker.addEventListener("message", ({ data }) => resolve(data)));
      navigator.serviceWorker.startMessages();
      await navigator.serviceWorker.register("/sync-worker.js", { type: "module" });
      (await navigator.serviceWorker.ready).active.postMessage("sync");
      return answer;
    })()""")
    assert report["merged"] == 1 and report["conflicts"] == 1, report
    assert it.gateway.get("/v1/records/shoppers/123")["customer"]["firstName"] == "Worker"


@scene
def forms(it):
    context = it.device()
    page = it.tab(context)
    page.evaluate("store.sync()")
    page.evaluate("store.draft('shoppers', 123).then((form) => { window.form = form; form.record.customer.firstName = 'Form'; })")
    it.gateway.merge("shoppers", 123, {"customer": {"firstName": {"old": "Joe", "new": "Theirs"}}})
    page.evaluate("until(async () => { await store.sync(); return seen.some(([type]) => type === 'overtaken'); })")
    listed = "store.conflicts().then((all) => all.map(({ kind, old, current, new: mine }) => [kind, old, current, mine]))"
    assert page.evaluate(listed) == []
    page.evaluate("form.save().then(() => {})")
    assert page.evaluate(listed) == [["overtaken", "Joe", "Theirs", "Form"]]
    assert page.evaluate("store.sync()")["conflicts"] == 1
    page.close()
    page = it.tab(context)
    assert page.evaluate(listed) == [["conflict", "Joe", "Theirs", "Form"]]
    page.evaluate("store.conflicts().then(([conflict]) => conflict.takeTheirs()).then(() => {})")
    page.evaluate("store.sync()")
    assert it.gateway.get("/v1/records/shoppers/123")["customer"]["firstName"] == "Theirs"
    assert page.evaluate(listed) == []


INPUTS = """(() => {
  document.body.innerHTML = '<input name=firstName><input name=creditLimit><input name=birthday type=date><input name=newsletter type=checkbox><textarea name=notes></textarea>';
  window.input = (name) => document.querySelector(`[name=${name}]`);
  return store.form("shoppers", 123).then((form) => {
    window.form = form;
    form.subscribe(() => {
      for (const element of document.querySelectorAll("[name]")) {
        const field = form.field(`customer.${element.name}`);
        if (element === document.activeElement) continue;
        if (element.type === "checkbox") element.checked = field.input;
        else element.value = field.input;
      }
    });
    document.body.addEventListener("input", ({ target }) => {
      form.field(`customer.${target.name}`).set(target.type === "checkbox" ? target.checked : target.value);
    });
  });
})()"""


@scene
def fields_of_a_form(it):
    """Two tabs have a form of one record: unchanged inputs, groups that follow, and groups that conflict."""
    context = it.device()
    one, other = it.tab(context), it.tab(context)
    one.evaluate("store.sync()")
    for page in (one, other):
        page.evaluate(INPUTS)
    one.locator("[name=creditLimit]").fill("12,50")
    assert one.evaluate("form.field('customer.creditLimit').code") == "not-a-number"
    refused = one.evaluate("form.save().catch((error) => [error.code, error.path])")
    assert refused == ["invalid-form", "customer.creditLimit"], refused
    one.locator("[name=creditLimit]").fill("321.50")
    one.locator("[name=birthday]").fill("1990-02-28")
    was_checked = one.locator("[name=newsletter]").is_checked()
    one.locator("[name=newsletter]").click()
    one.locator("[name=notes]").fill("two\nlines")
    # The other tab has typed into a group that this one saves, and into another one.
    other.locator("[name=birthday]").fill("1991-03-01")
    other.locator("[name=firstName]").fill("Jo")
    one.evaluate("form.save().then(() => {})")
    assert one.evaluate("form.isDirty") is False
    other.evaluate("until(() => form.conflicts.length === 1)")
    assert other.locator("[name=notes]").input_value() == "two\nlines"
    assert other.locator("[name=newsletter]").is_checked() is not was_checked
    assert other.locator("[name=birthday]").input_value() == "1991-03-01", "what was typed stays"
    meeting = other.evaluate("(({ group, old, current, new: mine }) => [group, old, current, mine])(form.conflicts[0])")
    assert meeting[0] == "birthday" and meeting[2:] == ["1990-02-28", "1991-03-01"], meeting
    other.evaluate("form.conflicts[0].takeTheirs()")
    other.evaluate("until(() => form.conflicts.length === 0)")
    other.evaluate("document.activeElement.blur()")
    assert other.evaluate("form.field('customer.birthday').input") == "1990-02-28"
    assert other.evaluate("form.field('customer.firstName').isDirty")
    other.evaluate("form.save().then(() => {})")
    one.evaluate("until(() => form.field('customer.firstName').value === 'Jo')")
    assert one.locator("[name=firstName]").input_value() == "Jo"
    # Both tabs edit one group, and both save. The second keeps its value.
    one.locator("[name=firstName]").fill("Joan")
    other.locator("[name=firstName]").fill("Joel")
    one.evaluate("form.save().then(() => {})")
    other.evaluate("until(() => form.conflicts.length === 1)")
    other.evaluate("form.conflicts[0].keepMine()")
    other.evaluate("until(() => form.conflicts.length === 0)")
    other.evaluate("form.save().then(() => {})")
    report = one.evaluate("store.sync()")
    assert report["refused"] == report["conflicts"] == 0, report
    customer = it.gateway.get("/v1/records/shoppers/123")["customer"]
    expected = ["Joel", "321.50", "1990-02-28", not was_checked, "two\nlines"]
    assert [customer[name] for name in ("firstName", "creditLimit", "birthday", "newsletter", "notes")] == expected, customer
    one.locator("[name=firstName]").fill("Nobody")
    one.evaluate("form.revert()")
    assert one.evaluate("[form.isDirty, form.field('customer.firstName').input]") == [False, "Joel"]


@scene
def subsets(it):
    """Two tabs keep different records. The last opened tab decides, and no edit is lost."""
    context = it.device()
    keep = '{ keep: { shoppers: { where: { "customer.county": "%s" } } } }'
    counties = "store.records('shoppers').then((all) => [...new Set(all.map((one) => one.customer.county))])"
    one = it.tab(context, keep % "Kent")
    one.evaluate("store.start()")
    one.evaluate("until(() => store.status.revision !== null && store.status.phase === 'idle')")
    assert one.evaluate(counties) == ["Kent"]
    asked = []
    one.on("request", lambda request: asked.append(request.url))
    one.evaluate("store.stop()")
    set_first_name(one, "Kept")
    one.evaluate("store.start()")
    other = it.tab(context, keep % "Devon")
    for page in (one, other):
        page.evaluate("until(async () => (await %s).join() === 'Devon')" % counties)
    assert it.gateway.get("/v1/records/shoppers/123")["customer"]["firstName"] == "Kept"
    assert [url for url in asked if "/v1/snapshot" in url and "unless=" in url], "the tab that leads reads the difference"
    assert one.evaluate("store.record('shoppers', 123)") is None
    # A record that departs while it is edited remains until the answer.
    number = other.evaluate("store.records('shoppers').then((all) => all[0].id)")
    it.gateway.process.send_signal(19)
    other.evaluate(f"store.edit('shoppers', {number}, (s) => {{ s.customer.firstName = 'Late'; }}).then(() => {{}})")
    it.gateway.process.send_signal(18)
    street = it.gateway.get(f"/v1/records/shoppers/{number}")["customer"]
    address = {name: street[name] for name in ("street", "county", "postCode")}
    it.gateway.merge("shoppers", number, {"customer": {"address": {"old": address, "new": {**address, "county": "Essex"}}}})
    other.evaluate("until(() => store.status.unsent === 0)")
    other.evaluate(f"until(async () => (await store.record('shoppers', {number})) === null)")
    assert it.gateway.get(f"/v1/records/shoppers/{number}")["customer"]["firstName"] == "Late"


@scene
def rules_that_change(it):
    page = it.tab(it.device())
    page.evaluate("store.sync()")
    set_first_name(page, "Waiting")
    page.evaluate("store.draft('shoppers', 124).then((form) => { window.form = form; form.record.customer.firstName = 'Form'; })")
    it.gateway.kill()
    file = it.rules / "shoppers.yaml"
    file.write_text(file.read_text().replace("firstName: first_name", "givenName: {fields: {givenName: {column: first_name, formerly: [firstName]}}, formerly: [firstName]}"))
    it.gateway.start()
    page.evaluate("store.sync()")
    page.evaluate("form.save().then(() => {})")
    report = page.evaluate("store.sync()")
    assert report["phase"] == "idle" and report["merged"] == 1, report
    names = [it.gateway.get(f"/v1/records/shoppers/{number}")["customer"]["givenName"] for number in (123, 124)]
    assert names == ["Waiting", "Form"], names
    assert page.evaluate("store.refusedEdits()") == []


@scene
def one_tab_delivers(it):
    context = it.device()
    one, other = it.tab(context), it.tab(context)
    one.evaluate("store.start()")
    other.evaluate("store.start()")
    other.evaluate("until(() => store.status.revision !== null && store.status.phase === 'idle')")
    heard = lambda page: len([1 for type, _ in page.evaluate("seen") if type == "conflict"])
    it.gateway.merge("shoppers", 123, {"customer": {"firstName": {"old": "Joe", "new": "Theirs"}}})
    context.set_offline(True)
    context.set_offline(False)
    other.evaluate("store.edit('shoppers', 123, (s) => { s.customer.firstName = 'Mine'; }, { base: { id: 123, customer: { firstName: 'Joe' } } }).then((ticket) => ticket.outcome).then(() => {})")
    one.evaluate("until(() => store.status.unsent === 0)")
    other.wait_for_timeout(500)
    assert heard(one) + heard(other) == 1, (one.evaluate("seen"), other.evaluate("seen"))


MANY = 50000
MANY_RULES = "resource: items\nsections:\n  item:\n    table: items\n    groups:\n      name: name\n      note: note\n"
MANY_SQL = f"""CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY})
INSERT INTO items (name, note) SELECT 'Item ' || i, 'A note of about a hundred characters, so that a record is not as small as its key alone: ' || i FROM n;"""


@scene
def fifty_thousand_records(it):
    page = it.tab(it.device())
    devtools = it.contexts[-1].new_cdp_session(page)
    devtools.send("Performance.enable")

    def heap():
        devtools.send("HeapProfiler.collectGarbage")
        metrics = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
        return metrics["JSHeapUsedSize"] / 1e6

    before, began = heap(), time.time()
    # A reader is never kept waiting for long.
    slowest = page.evaluate("""(async () => {
      let slowest = 0, isOver = false;
      const first = store.sync().then((report) => { window.report = report; isOver = true; });
      while (!isOver) {
        const from = performance.now();
        try { await store.record("items", 1); } catch {}
        slowest = Math.max(slowest, performance.now() - from);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await first;
      return slowest;
    })()""")
    took, after = time.time() - began, heap()
    began = time.time()
    count = page.evaluate("store.records('items').then((all) => all.length)")
    reading = time.time() - began
    assert count == MANY, f"{count} records after {took:.1f} s: {page.evaluate('report')}"
    page.evaluate("store.edit('items', 777, (i) => { i.item.note = 'mine'; })")
    began = time.time()
    page.evaluate("store.sync()")
    assert it.gateway.get("/v1/records/items/777")["item"]["note"] == "mine"
    return f"{MANY} records in {took:.1f} s, slowest read meanwhile {slowest:.0f} ms, heap {before:.1f} to {after:.1f} MB, all read in {reading:.1f} s, an edit after that {time.time() - began:.1f} s"


QUERIES = """async ({ table, count }) => {
  const { rules, base, queries, search, indexes } = table, line = (value) => `${JSON.stringify(value)}\\n`, changes = [];
  const records = count ? Array.from({ length: count }, (_, index) => window.orderOf(index + 1)) : base;
  const text = [{ snapshot: { feed: "f", revision: 1, rules: "r1", resources: ["orders"], records: records.length } }, ...records, { end: { records: records.length } }].map(line).join("");
  const answer = (body) => new Response(typeof body === "string" ? body : JSON.stringify(body), { headers: { "Content-Type": "application/json" } });
  const fetched = async (address) => {
    const url = new URL(address);
    if (url.pathname === "/v1/rules") return answer(rules);
    if (url.pathname === "/v1/snapshot") return answer(text);
    if (url.pathname === "/v1/changes") return answer({ feed: "f", revision: 1 + changes.length, more: false, rules: "r1", changes: changes.slice(Number(url.searchParams.get("since")) - 1) });
    return new Response("", { status: 503 });
  };
  window.change = (record) => changes.push({ revision: 2 + changes.length, ...record, by: null });
  window.openOrders = (more) => window.library.open({ server: "http://queries.test", user: `u${count}`, fetch: fetched, search, ...more });
}"""


@scene
def queries(it):
    """The queries of the shared table in IndexedDB, with and without indexes."""
    page = it.tab(it.device())
    table = json.loads((ROOT / "Tests/Clients/Cases/queries.json").read_text())
    page.evaluate(f"import('{it.gateway.pages.modules}/fieldmerge.js').then((library) => {{ window.library = library; }})")
    page.evaluate(QUERIES, {"table": table, "count": 0})
    faults = page.evaluate("""async ({ queries, indexes }) => {
      const faults = [];
      for (const more of [{}, { indexes }]) {
        const own = await openOrders({ path: `queries${Object.keys(more)}`, ...more });
        await own.sync();
        await until(async () => (await own.diagnose()).indexes.every(({ isWhole }) => isWhole));
        for (const { name, resource, query, ids, followed, next, count, error } of queries) {
          const found = await own.query(resource, query).catch((thrown) => thrown);
          if (error ? found.code !== error.code || found.path !== error.path : JSON.stringify(found.map?.(({ id }) => id)) !== JSON.stringify(ids)) faults.push([name, String(found)]);
          const idsOf = (one) => Object.fromEntries(Object.entries(one).map(([key, record]) => [key, record && record.id]));
          if (followed && JSON.stringify(found.followed.map(idsOf)) !== JSON.stringify(followed)) faults.push([name, "followed"]);
          if (next !== undefined && (found.next !== null) !== next) faults.push([name, "next"]);
          if (count !== undefined && (await own.count(resource, query)) !== count) faults.push([name, "count"]);
        }
        const live = own.live("orders", { sort: ["-order.amount"], limit: 2 }), seen = [];
        live.subscribe((value) => { if (value) seen.push(value.map(({ id }) => id).join()); });
        await until(() => seen.length === 1);
        await own.edit("orders", 3, (order) => { order.order.amount = "500"; });
        await until(() => seen.length === 2);
        if (seen.join(" ") !== "5,2 3,5") faults.push(["live", seen.join(" ")]);
        if (more.indexes && (await own.diagnose()).indexes.length < 20) faults.push(["indexes"]);
        await own.close();
      }
      return faults;
    }""", {"queries": table["queries"], "indexes": table["indexes"]})
    assert faults == [], faults


@scene
def queries_of_many(it):
    """Figures of 100,000 records in IndexedDB. FIELDMERGE_RECORDS changes the number."""
    page = it.tab(it.device())
    count = int(os.environ.get("FIELDMERGE_RECORDS", "100000"))
    table = json.loads((ROOT / "Tests/Clients/Cases/queries.json").read_text())
    table["rules"]["resources"] = table["rules"]["resources"][:1]
    table["search"] = {"orders": ["order.title"]}
    page.evaluate(f"import('{it.gateway.pages.modules}/fieldmerge.js').then((library) => {{ window.library = library; }})")
    page.evaluate("""() => { window.orderOf = (id, more) => ({ resource: "orders", id, record: { id, lines: [], delivery: null, order: {
      title: `Order ${id} of ${["Ann", "Bea", "Cem"][id % 3]}`, status: ["open", "late", "done"][id % 3], due: new Date(Date.UTC(2026, 0, 1 + (id % 3650))).toJSON().slice(0, 10), amount: `${(id * 7919) % 100000}.50`, ...more } } }); }""")
    page.evaluate(QUERIES, {"table": table, "count": count})
    page.evaluate(f"window.many = {count}")
    page.on("console", lambda line: print(f"    {line.text}", flush=True))
    page.evaluate("""async () => {
      const indexes = { orders: ["order.status", "order.due", "order.amount"] };
      const timed = async (name, body, times = 5) => {
        const all = [];
        for (let run = 0; run < times; run++) {
          const begun = performance.now();
          await body(run);
          all.push(performance.now() - begun);
        }
        console.log(`${name}: ${Math.round(10 * all.sort((one, other) => one - other)[Math.floor(times / 2)]) / 10}`);
      };
      const whole = async (own) => { for (;;) { const found = (await own.diagnose()).indexes; if (found.length && found.every(({ isWhole }) => isWhole)) return; await new Promise((resolve) => setTimeout(resolve, 1000)); } };
      for (const kind of ["first load", "first load with a live list"]) {
        const own = await openOrders({ path: kind, indexes: undefined, search: undefined }), list = kind === "first load" ? null : own.live("orders", { sort: ["-order.due"] });
        let callbacks = 0;
        list?.subscribe((value) => { if (value) callbacks += 1; });
        await timed(kind, async () => {
          await own.sync();
          await until(() => !list || list.value?.length === window.many);
        }, 1);
        if (list) console.log(`callbacks: ${callbacks}`);
        list?.close();
        await own.close();
      }
      let own = await openOrders({ path: "with indexes", indexes });
      await own.sync();
      await timed("the indexes are whole", () => whole(own), 1);
      await own.close();
      await timed("open again, to the first 50 rows", async () => {
        own = await openOrders({ path: "with indexes", indexes });
        await own.query("orders", { sort: ["order.due"], limit: 50 });
      }, 1);
      await timed("50 of an order", () => own.query("orders", { sort: ["order.due"], limit: 50 }));
      await timed("50 of a descending order", () => own.query("orders", { sort: ["-order.due", "-id"], limit: 50 }));
      await timed("50 with a condition and an order", () => own.query("orders", { where: { "order.status": "open", "order.due": { from: "2030-01-01" } }, sort: ["order.due"], limit: 50 }));
      await timed("an equal decimal", () => own.query("orders", { where: { "order.amount": "7919.50" } }));
      await timed("50 of a search", () => own.query("orders", { search: "order 77", limit: 50 }));
      await timed("count", () => own.count("orders", { where: { "order.status": "open" } }));
      await timed("50 without an index", () => own.query("orders", { where: { "order.title": "Order 5 of Cem" }, limit: 50 }), 3);
      const lives = Array.from({ length: 100 }, (_, index) => own.live("orders", { where: { "order.status": ["open", "late", "done"][index % 3] }, sort: ["order.due"], limit: 50 }));
      await timed("100 live queries have values", () => until(() => lives.every(({ value }) => value)), 1);
      // The wait for a frame is no work.
      let asked, began;
      const parts = [[], [], []], inFrame = window.requestAnimationFrame;
      window.requestAnimationFrame = (body) => {
        asked ??= performance.now();
        return inFrame(() => {
          began = performance.now();
          body();
        });
      };
      await timed("one remote change with 100 live queries, its request, and the wait for a frame", async (run) => {
        const seen = new Promise((resolve) => { const end = lives[0].subscribe((value) => { if (value[0].order.title === `new ${run}`) resolve(end); }); });
        asked = undefined;
        const begun = performance.now();
        change(orderOf(3, { title: `new ${run}`, due: "2000-01-01" }));
        own.sync();
        (await seen)();
        for (const [index, time] of [asked - begun, began - asked, performance.now() - began].entries()) parts[index].push(time);
      }, 9);
      for (const [index, name] of ["the request, and storing the change", "the wait for a frame", "evaluating 100 live queries"].entries()) console.log(`of which ${name}: ${Math.round(10 * parts[index].sort((one, other) => one - other)[4]) / 10}`);
      window.requestAnimationFrame = inFrame;
      await timed("the same without live queries: until sync() is over", async (run) => { change(orderOf(6, { title: `new ${run}` })); await own.sync(); });
      for (const live of lives.slice(10)) live.close();
      await timed("edit() with ten live queries", (run) => own.edit("orders", 9, (order) => { order.order.title = `edited ${run}`; }), 20);
    }""")


def main():
    names = sys.argv[1:] or list(SCENES)
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                options, rules, sql, secret = [], ROOT / "MergeRules", None, None
                if name == "the_token_expires":
                    secret, options = with_tokens(folder, "--refresh")
                if name in ("fifty_thousand_records", "slow_uplink", "a_long_queue"):
                    rules, sql = pathlib.Path(folder) / "rules", MANY_SQL if name == "fifty_thousand_records" else MANY_SQL.replace(str(MANY), "1000")
                    rules.mkdir()
                    (rules / "items.yaml").write_text(MANY_RULES)
                if name == "todo_in_60_lines":
                    rules, sql = TODO / "rules", (TODO / "README.md").read_text().split('todo.sqlite "')[1].split('"')[0]
                if name == "exact_integers":
                    rules, sql = pathlib.Path(folder) / "rules", EXACT_SQL
                    rules.mkdir()
                    (rules / "notes.yaml").write_text(EXACT_RULES)
                if name == "rules_that_change":
                    rules = pathlib.Path(shutil.copytree(rules, pathlib.Path(folder) / "rules"))
                gateway = Gateway(folder, *options, rules=rules, sql=sql)
                it = Scene(browser, gateway)
                it.rules = rules
                it.secret = secret
                began = time.time()
                try:
                    note = SCENES[name](it)
                    assert not it.errors, f"errors in a page: {it.errors}"
                    print(f"ok     {name} ({time.time() - began:.1f} s){': ' + note if note else ''}", flush=True)
                except Exception as error:  # each scene is reported
                    failed += 1
                    print(f"FAILED {name}: {type(error).__name__} in line {error.__traceback__.tb_next.tb_lineno}: {error} {it.errors}", flush=True)
                finally:
                    for context in it.contexts:
                        context.close()
                    gateway.kill()
        browser.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
