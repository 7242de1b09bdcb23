#!/usr/bin/env python3
"""Uses the shop of Samples/shop-web in Chromium: two users, windows with and without a network.

Needs Debian's `chromium`, Playwright and axe (`pip install playwright axe-playwright-python`). Run by hand:

    python3 Tests/Clients/JavaScript/shop.py [NAME ...]

With FIELDMERGE_CLIENT=1 pages get the modules of the source tree instead of those in the program.

Each scene has a new gateway that serves the app, and new profiles. It fails on any error in a page's console, also on a
violation of the Content-Security-Policy.
"""

import os
import pathlib
import shutil
import sys
import tempfile
import time

import axe_playwright_python
from playwright.sync_api import expect, sync_playwright

from browser import CHROMIUM, ROOT, Gateway, with_tokens

APP = ROOT / "Samples/shop-web"
CLIENT = ROOT / "Sources/clients/javascript"
AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
DESKTOP, PHONE = {"width": 1180, "height": 860}, {"width": 390, "height": 844}
JOE, NOOR = 123, 124
SCENES = {}
expect.set_options(timeout=15000)


def scene(body):
    SCENES[body.__name__] = body
    return body


class Window:
    """A window of a user, with the actions of a person."""

    def __init__(self, stage, context, user, place=""):
        self.stage, self.user = stage, user
        self.page = stage.watched(context.new_page())
        self.page.goto(f"{stage.gateway.url}/app/?user={user}{place}")
        self.switch = self.page.get_by_role("switch", name="Network")
        self.status = self.page.locator(".status")
        self.cards = self.page.locator(".card")
        self.form = self.page.locator(".customer")

    def open(self, number=JOE):
        self.page.evaluate(f"location.hash = '#/customers/{number}'")
        expect(self.form.get_by_label("Street")).to_be_visible()
        return self

    def field(self, label):
        return self.form.get_by_label(label, exact=True)

    def write(self, label, text):
        self.field(label).fill(text)
        self.field(label).press("Enter")

    def state(self, group):
        return self.form.locator(f".group.{group} .state")

    def network(self, is_on):
        self.switch.click()
        expect(self.switch).to_have_attribute("aria-checked", "true" if is_on else "false")

    def sent(self):
        expect(self.status).to_have_text("All changes saved.")

    def item(self, name):
        return self.form.locator(".groceries li").filter(has=self.page.get_by_label(f"Remove {name}", exact=True))

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)

    def values(self):
        """The terms of the first card with their values."""
        return self.cards.first.evaluate(
            "card => Object.fromEntries([...card.querySelectorAll('dl > div')].map(one =>"
            " [one.querySelector('dt').firstChild.textContent, one.querySelector('dd').textContent]))")


class Stage:
    """A browser with a gateway. Errors of pages are collected."""

    def __init__(self, browser, gateway):
        self.browser, self.gateway, self.errors, self.contexts = browser, gateway, [], []

    def device(self, **options):
        context = self.browser.new_context(**{"viewport": DESKTOP, "locale": "en-GB", "color_scheme": "light", **options})
        self.contexts.append(context)
        if os.environ.get("FIELDMERGE_CLIENT"):
            context.route("**/client/*.js", lambda route: route.fulfill(path=CLIENT / route.request.url.rsplit("/", 1)[1]))
        return context

    def watched(self, page):
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self.note(line) if line.type == "error" else None)
        return page

    def note(self, line):
        # Without a network the browser reports each request itself.
        if not line.text.startswith("Failed to load resource: "):
            self.errors.append(line.text)

    def window(self, user="anna", place="", context=None, **options):
        return Window(self, context or self.device(**options), user, place)

    def both(self, number=JOE):
        return [self.window(user).open(number) for user in ("anna", "ben")]

    def shopper(self, number=JOE):
        return self.gateway.get(f"/v1/records/shoppers/{number}")

    def stands(self, field, value):
        """Waits until the shop has a value of the customer: right after a field is left, nothing is unsent yet."""
        self.until(lambda: self.shopper()["customer"][field], value)

    def until(self, body, wanted=True):
        for _ in range(300):
            if body() == wanted:
                return
            time.sleep(0.05)
        raise AssertionError(f"{body()} is not {wanted}")


@scene
def choosing_and_searching(it):
    page = it.watched(it.device().new_page())
    page.goto(it.gateway.url + "/app")
    page.get_by_role("link", name="Anna").click()
    expect(page.locator(".count")).to_have_text("60 customers")
    expect(page.locator(".customers li")).to_have_count(60)
    assert page.title() == "Anna · Corner shop"
    for words, names in [("shaw", ["Shaw, Joe"]), ("lukasz", ["Cholmondeley, Łukasz"]), ("high joe", ["Shaw, Joe"]),
                         ("01632 960123", ["Shaw, Joe"]), ("CT1 1AA", ["Shaw, Joe"]), ("nobody at all", [])]:
        page.get_by_label("Search customers").fill(words)
        expect(page.locator(".customers .name")).to_have_text(names)
        expect(page.locator(".count")).to_have_text(f"{len(names)} of 60 customers")
    page.get_by_label("Search customers").fill("")
    page.get_by_role("link", name="Shaw, Joe").click()
    expect(page.get_by_role("heading", name="Joe Shaw")).to_be_focused()
    assert page.locator(".customers [aria-current=page] .name").inner_text() == "Shaw, Joe"


@scene
def two_edits_meet(it):
    anna, ben = it.both()
    anna.network(False)
    expect(anna.status).to_have_text("Network off.")
    anna.write("Street", "7 Mill Lane")
    expect(anna.state("address")).to_have_text("Not sent yet")
    expect(anna.status).to_have_text("Network off. 1 change waits on this device.")
    expect(anna.page.locator(".customers [aria-current] .mark")).to_have_text("Not sent yet")
    ben.write("Street", "2 High St")
    ben.write("Telephone", "01632 960777")
    it.stands("street", "2 High St")
    ben.sent()
    anna.network(True)
    expect(anna.cards).to_have_count(1)
    assert anna.values() == {
        "Before": "1 High St, Kent, CT1 1AA", "Ben wrote": "2 High St, Kent, CT1 1AA",
        "You wrote": "7 Mill Lane, Kent, CT1 1AA", "Saved: yours": "7 Mill Lane, Kent, CT1 1AA"}
    expect(anna.cards.first).to_contain_text("You and Ben both changed the address of Joe Shaw at the same time.")
    expect(anna.cards.first).to_contain_text("Your change came last, so the shop saved it.")
    expect(anna.page.locator("#said")).to_have_text("Changed twice: address. Ben changed it too.")
    expect(anna.field("Telephone")).to_have_value("01632 960777")
    # The other user gets the outcome of his edit.
    expect(ben.field("Street")).to_have_value("7 Mill Lane")
    expect(ben.form.locator(".meanwhile").filter(has_text="Anna has replaced your text")).to_contain_text("“2 High St, Kent, CT1 1AA”")
    # The card remains after the window was closed, and its buttons work.
    anna.page.reload()
    expect(anna.cards).to_have_count(1)
    anna.button("Use Ben's").click()
    expect(anna.cards).to_have_count(0)
    expect(anna.field("Street")).to_have_value("2 High St")
    it.until(lambda: it.shopper()["customer"]["street"], "2 High St")
    expect(ben.field("Street")).to_have_value("2 High St")


@scene
def two_users_of_one_browser(it):
    """Like the quickstart: two windows, each with a separate store and network."""
    context = it.device()
    anna, ben = [it.window(user, context=context).open() for user in ("anna", "ben")]
    anna.network(False)
    expect(ben.switch).to_have_attribute("aria-checked", "true")
    anna.write("Street", "7 Mill Lane")
    ben.write("Street", "2 High St")
    ben.sent()
    expect(anna.field("Street")).to_have_value("7 Mill Lane")
    anna.network(True)
    expect(anna.cards).to_have_count(1)
    expect(ben.field("Street")).to_have_value("7 Mill Lane")
    expect(ben.cards).to_have_count(0)
    ben.button("Sign out").click()
    expect(ben.page.get_by_text("Choose a person.")).to_be_visible()
    anna.page.reload()
    expect(anna.cards).to_have_count(1)


@scene
def putting_mine_back(it):
    anna, ben = it.both()
    ben.write("Street", "2 High St")
    ben.sent()
    expect(anna.field("Street")).to_have_value("2 High St")
    expect(anna.state("address")).to_have_text("Changed by Ben")
    anna.write("Street", "3 High St")
    ben.button("Put mine back").click()
    it.until(lambda: it.shopper()["customer"]["street"], "2 High St")
    expect(anna.field("Street")).to_have_value("2 High St")


@scene
def taking_mine(it):
    anna, ben = it.both()
    anna.network(False)
    anna.write("Credit limit", "120")
    ben.write("Credit limit", "80")
    it.stands("creditLimit", "80.00")
    anna.network(True)
    expect(anna.cards).to_have_count(1)
    assert anna.values() == {"Before": "£50.00", "Ben wrote": "£80.00", "You wrote": "£120.00", "Saved: Ben's": "£80.00"}, anna.values()
    expect(anna.field("Credit limit")).to_have_value("80.00")
    anna.button("Use mine").click()
    expect(anna.cards).to_have_count(0)
    it.until(lambda: it.shopper()["customer"]["creditLimit"], "120.00")
    expect(ben.field("Credit limit")).to_have_value("120.00")


@scene
def edits_are_joined(it):
    anna, ben = it.both()
    anna.network(False)
    anna.write("Balance", "-2.50")
    anna.write("Labels", "regular, vip")
    anna.field("Notes").fill("Ring twice.\nThe bell is broken.")
    anna.field("First name").focus()
    expect(anna.state("notes")).to_have_text("Not sent yet")
    ben.write("Balance", "-32.50")
    ben.write("Labels", "regular, dog, trade")
    ben.field("Notes").fill("Ring three times.\nThe bell is weak.")
    ben.field("First name").focus()
    it.stands("notes", "Ring three times.\nThe bell is weak.")
    ben.sent()
    anna.network(True)
    expect(anna.cards).to_have_count(3)
    anna.sent()
    joined = it.shopper()["customer"]
    assert joined["balance"] == "-22.50", joined
    assert joined["tags"] == ["regular", "trade", "vip"], joined
    assert joined["notes"] == "Ring three times.\nThe bell is broken.", joined
    for number in range(3):
        expect(anna.cards.nth(number)).to_contain_text("Saved: both")
    expect(anna.page.locator(".look")).to_have_text("3 to review")
    for left in (2, 1, 0):
        anna.button("OK").first.click()
        expect(anna.cards).to_have_count(left)
    expect(anna.page.locator(".look")).to_be_hidden()


@scene
def a_rule_takes_it_back(it):
    anna = it.window().open()
    anna.write("Balance", "-90")
    expect(anna.cards).to_have_count(1)
    expect(anna.cards.first).to_contain_text("Not accepted: balance")
    expect(anna.cards.first).to_contain_text("more than the credit limit allows")
    expect(anna.field("Balance")).to_have_value("-12.50")


@scene
def typing_while_it_changes(it):
    anna, ben = it.both()
    anna.field("Street").press("End")
    anna.page.keyboard.type(" and a half")
    ben.write("Street", "9 Quay")
    note = anna.form.locator(".group.address .meanwhile")
    expect(note).to_contain_text("While you are typing, Ben changed this to “9 Quay, Kent, CT1 1AA”.")
    expect(anna.field("Street")).to_have_value("1 High St and a half")
    anna.button("Use theirs").click()
    expect(anna.field("Street")).to_have_value("9 Quay")
    expect(note).to_be_empty()
    anna.field("Street").fill("nonsense")
    anna.field("Street").press("Escape")
    expect(anna.field("Street")).to_have_value("9 Quay")
    anna.field("First name").fill("")
    anna.field("Last name").focus()
    expect(anna.form.locator(".group.firstName .error")).not_to_be_empty()
    expect(anna.field("First name")).to_have_attribute("aria-invalid", "true")
    anna.write("First name", "x" * 41)
    ben.sent()
    assert it.shopper()["customer"]["street"] == "9 Quay"


@scene
def groceries(it):
    anna, ben = it.both()
    names = lambda window: window.form.locator(".groceries").get_by_label("What", exact=True)
    anna.network(False)
    anna.field("What to add").fill("Rice")
    anna.field("How much of it").fill("1 kg")
    anna.field("Aisle of it").select_option(label="Rice & Pasta")
    anna.field("How much of it").press("Enter")
    expect(anna.field("What to add")).to_be_focused()
    expect(anna.item("Rice").locator(".state").first).to_have_text("Not sent yet")
    anna.item("Beans").get_by_label("How much").fill("3 tins")
    anna.item("Beans").get_by_label("How much").press("Enter")
    anna.page.get_by_label("Remove Tea").click()
    expect(anna.item("Tea")).to_have_count(0)
    ben.field("What to add").fill("Soap")
    ben.button("Add").click()
    expect(ben.item("Soap")).to_have_count(1)
    ben.sent()
    # A user who is typing in a new item can continue when it gets its number.
    anna.item("Rice").get_by_label("How much").focus()
    anna.network(True)
    anna.item("Rice").get_by_label("How much").focus()
    anna.sent()
    expect(anna.item("Soap")).to_have_count(1)
    expect(anna.item("Rice").get_by_label("How much")).to_be_focused()
    anna.page.keyboard.press("Control+A")
    anna.page.keyboard.type("2 kg")
    anna.page.keyboard.press("Enter")
    anna.item("Rice").get_by_label("Aisle").select_option(label="Baking")
    for window in (anna, ben):
        expect(window.item("Rice").get_by_label("How much")).to_have_value("2 kg")
        expect(names(window)).to_have_count(3)
    it.until(lambda: [(one["name"], one["quantity"], one["aisle"]) for one in it.shopper()["groceries"]],
             [("Beans", "3 tins", 5), ("Soap", "1", None), ("Rice", "2 kg", 8)])


@scene
def refused(it):
    anna = it.window().open()
    anna.write("E-mail", "noor.penrose@example.com")
    expect(anna.cards).to_have_count(1)
    expect(anna.state("email")).to_have_text("Refused")
    expect(anna.cards.first).to_contain_text("Another customer already has this e-mail")
    assert anna.values() == {"E-mail before": "joe.shaw@example.com", "You wrote": "noor.penrose@example.com"}, anna.values()
    expect(anna.field("E-mail")).to_have_value("joe.shaw@example.com")
    # Other edits are not delayed.
    anna.write("Telephone", "01632 960888")
    it.until(lambda: it.shopper()["customer"]["phone"], "01632 960888")
    anna.page.reload()
    expect(anna.cards).to_have_count(1)
    # When no other customer has the address, the edit is merged.
    it.gateway.merge("shoppers", NOOR, {"customer": {"email": {"old": "noor.penrose@example.com", "new": None}}})
    anna.page.get_by_role("link", name="1 to review").click()
    expect(anna.page.get_by_role("heading", name="To review")).to_be_focused()
    anna.button("Send it again").click()
    expect(anna.page.get_by_text("Nothing to review.")).to_be_visible()
    it.until(lambda: it.shopper()["customer"]["email"], "noor.penrose@example.com")
    anna.open().write("E-mail", it.shopper(105)["customer"]["email"])
    expect(anna.cards).to_have_count(1)
    # It goes back into the form, and is corrected there.
    anna.button("Correct it").click()
    expect(anna.field("E-mail")).to_be_focused()
    expect(anna.field("E-mail")).to_have_value(it.shopper(105)["customer"]["email"])
    anna.write("E-mail", "joe@example.com")
    expect(anna.cards).to_have_count(0)
    it.until(lambda: it.shopper()["customer"]["email"], "joe@example.com")
    # Escape removes the refused value from the form, and the next edit is sent without it.
    anna.write("E-mail", it.shopper(105)["customer"]["email"])
    expect(anna.cards).to_have_count(1)
    anna.button("Correct it").click()
    anna.field("E-mail").press("Escape")
    expect(anna.field("E-mail")).to_have_value("joe@example.com")
    anna.write("Telephone", "01632 960999")
    it.until(lambda: it.shopper()["customer"]["phone"], "01632 960999")
    expect(anna.cards).to_have_count(0)
    anna.write("E-mail", it.shopper(105)["customer"]["email"])
    expect(anna.cards).to_have_count(1)
    anna.button("Discard it").click()
    expect(anna.cards).to_have_count(0)
    expect(anna.state("email")).to_be_empty()


@scene
def a_new_customer(it):
    anna, ben = it.window(), it.window("ben")
    expect(anna.page.locator(".customers li").first).to_be_visible()
    anna.network(False)
    anna.button("New").click()
    for label, text in [("First name", "Ada"), ("Last name", "Nought"), ("Street", "1 Zero Rd"), ("Post code", "ZZ1 1ZZ")]:
        anna.page.get_by_role("dialog").get_by_label(label).fill(text)
    anna.button("Create").click()
    expect(anna.page.get_by_role("heading", name="Ada Nought")).to_be_visible()
    anna.field("What to add").fill("Milk")
    anna.button("Add").click()
    assert "tmp" in anna.page.evaluate("location.hash")
    anna.network(True)
    it.until(lambda: anna.page.evaluate("/^#.customers.[0-9]+$/.test(location.hash)"))
    ben.page.get_by_label("Search customers").fill("ada")
    ben.page.get_by_role("link", name="Nought, Ada").click()
    expect(ben.item("Milk")).to_have_count(1)
    anna.button("Remove this customer").click()
    anna.button("Cancel").click()
    expect(anna.item("Milk")).to_have_count(1)
    anna.button("Remove this customer").click()
    anna.button("Remove").click()
    expect(anna.page.get_by_role("heading", name="Choose a customer")).to_be_visible()
    expect(ben.form).to_contain_text("This customer was removed, here or on another device.")
    expect(ben.page.locator(".count")).to_have_text("0 of 60 customers")


@scene
def signing_out(it):
    context = it.device()
    anna = it.window(context=context).open()
    anna.network(False)
    anna.write("Street", "8 Sea View")
    anna.button("Sign out").click()
    dialog = anna.page.get_by_role("dialog", name="Some changes are not sent yet")
    expect(dialog).to_contain_text("1 change exists only on this device.")
    anna.button("Stay signed in").click()
    expect(anna.field("Street")).to_have_value("8 Sea View")
    anna.button("Sign out").click()
    anna.button("Send first, then sign out").click()
    expect(anna.page.get_by_role("dialog", name="The changes could not be sent")).to_be_visible()
    anna.page.keyboard.press("Escape")
    other = it.window(context=context).open()
    anna.network(True)
    anna.sent()
    anna.network(False)
    anna.write("Street", "9 Sea View")
    anna.button("Sign out").click()
    anna.button("Discard and sign out").click()
    for window in (anna, other):
        expect(window.page.get_by_text("Choose a person.")).to_be_visible()
    assert it.shopper()["customer"]["street"] == "8 Sea View"
    assert anna.page.evaluate("indexedDB.databases().then((all) => all.filter((one) => one.name.includes('anna')).length)") == 0
    assert anna.page.evaluate("Object.keys(localStorage)") == []


@scene
def two_windows_of_one_user(it):
    context, ben = it.device(), it.window("ben").open()
    anna, second = [it.window(context=context).open() for _ in range(2)]
    anna.network(False)
    expect(second.switch).to_have_attribute("aria-checked", "false")
    second.write("Street", "5 Row")
    expect(anna.field("Street")).to_have_value("5 Row")
    ben.write("Street", "6 Row")
    it.stands("street", "6 Row")
    ben.sent()
    anna.network(True)
    for window in (anna, second):
        expect(window.cards).to_have_count(1)
    second.button("OK").click()
    for window in (anna, second):
        expect(window.cards).to_have_count(0)


KEPT = """(async () => {
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    if (await cache.match("/app/whole")) return [name, (await cache.keys()).map((one) => new URL(one.url).pathname)];
  }
  return null;
})()"""


def kept(it, page, before=None):
    """The name and the paths of the service worker's cache, when it is complete and has changed."""
    it.until(lambda: (page.evaluate(KEPT) or [before])[0] != before)
    return page.evaluate(KEPT)


@scene
def without_a_network_at_all(it):
    context = it.device()
    anna = it.window(context=context).open()
    _, paths = kept(it, anna.page)
    assert {"/client/fieldmerge.js", "/client/indexeddb.js", "/app/", "/app/app.js", "/app/app.css"} <= set(paths), paths
    it.gateway.kill()
    context.set_offline(True)
    anna.page.close()
    anna = it.window(context=context, place="#/customers/123")
    expect(anna.status).to_have_text("No network.")
    anna.write("Street", "1 Island")
    expect(anna.state("address")).to_have_text("Not sent yet")
    anna.page.reload()
    expect(anna.field("Street")).to_have_value("1 Island")
    expect(anna.status).to_have_text("No network. 1 change waits on this device.")
    # A network without a server.
    context.set_offline(False)
    expect(anna.status).to_contain_text("The shop does not respond. 1 change waits on this device.")
    it.gateway.start()
    anna.network(False)
    anna.network(True)
    it.stands("street", "1 Island")


@scene
def a_new_version(it):
    anna = it.window()
    first, _ = kept(it, anna.page)
    anna.page.reload()
    page = it.app / "fields.js"
    page.write_text(page.read_text().replace('"Telephone"', '"Mobile"'))
    anna.page.reload()
    kept(it, anna.page, before=first)
    anna.page.reload()
    anna.open()
    expect(anna.field("Mobile")).to_be_visible()


@scene
def installable(it):
    context = it.device()
    anna = it.window(context=context)
    anna.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    devtools = context.new_cdp_session(anna.page)
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["url"].endswith("/app/manifest.webmanifest") and not manifest["errors"], manifest
    # A test profile cannot install any app.
    faults = [one["errorId"] for one in devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]]
    assert set(faults) <= {"in-incognito"}, faults


@scene
def by_keyboard(it):
    anna = it.window()
    expect(anna.page.locator(".customers li").first).to_be_visible()
    keyboard = anna.page.keyboard
    focused = lambda: anna.page.evaluate("document.activeElement.textContent || document.activeElement.getAttribute('aria-label') || document.activeElement.name")
    keyboard.press("Tab")
    assert focused() == "Skip to the customer"
    for _ in range(20):
        keyboard.press("Tab")
        if anna.page.evaluate("document.activeElement.type") == "search":
            break
    keyboard.type("joe shaw")
    expect(anna.page.locator(".count")).to_have_text("1 of 60 customers")
    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.press("Enter")
    expect(anna.page.get_by_role("heading", name="Joe Shaw")).to_be_focused()
    keyboard.press("Tab")
    expect(anna.field("First name")).to_be_focused()
    keyboard.type("Jo")
    keyboard.press("Enter")
    it.until(lambda: it.shopper()["customer"]["firstName"], "Jo")
    anna.switch.focus()
    keyboard.press("Space")
    expect(anna.switch).to_have_attribute("aria-checked", "false")
    expect(anna.page.locator("#said")).to_contain_text("The network is off.")


@scene
def whoever_asks_for_tokens(it):
    anna = it.window()
    dialog = anna.page.get_by_role("dialog", name="Please sign in")
    dialog.get_by_label("Token").fill(it.secret)
    anna.button("Continue").click()
    expect(anna.page.locator(".count")).to_have_text("60 customers")
    anna.open().write("Street", "1 Token St")
    anna.sent()


def check_axe(it, page, name, notes):
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    notes.append(name)
    assert not found, f"{name}: " + "; ".join(
        f"{one['id']}: {one['help']} {[node['target'] for node in one['nodes']][:3]} {one['nodes'][0].get('failureSummary')}" for one in found)


@scene
def for_everybody(it):
    """axe finds nothing in any view, light and dark, on a desktop and a phone."""
    checked = []
    ben = it.window("ben").open()
    for scheme in ("light", "dark"):
        for kind, options in (("desktop", {}), ("phone", {"viewport": PHONE, "is_mobile": True, "has_touch": True})):
            context, user = it.device(color_scheme=scheme, **options), "anna" if scheme == "light" else "cleo"
            # axe runs in the page, which runs only scripts of the app.
            page = it.watched(context.new_page())
            look = lambda view, page=page: check_axe(it, page, f"{view}, {scheme}, {kind}", checked)
            page.goto(it.gateway.url + "/app/")
            look("choosing")
            page.close()
            anna = it.window(user, context=context)
            page = anna.page
            expect(page.locator(".customers li").first).to_be_visible()
            check_axe(it, page, f"list, {scheme}, {kind}", checked)
            anna.open()
            check_axe(it, page, f"form, {scheme}, {kind}", checked)
            anna.network(False)
            anna.write("Street", f"{scheme} {kind} Rd")
            anna.write("First name", f"Jo{scheme}{kind}")
            expect(anna.state("address")).to_have_text("Not sent yet")
            check_axe(it, page, f"network off, {scheme}, {kind}", checked)
            ben.write("Street", f"Other {scheme} {kind} Rd")
            ben.sent()
            anna.button("Sign out").click()
            check_axe(it, page, f"dialog, {scheme}, {kind}", checked)
            page.keyboard.press("Escape")
            anna.network(True)
            expect(anna.cards).to_have_count(1)
            check_axe(it, page, f"two edits met, {scheme}, {kind}", checked)
            anna.write("E-mail", "noor.penrose@example.com")
            expect(anna.cards).to_have_count(2)
            expect(anna.state("email")).to_have_text("Refused")
            check_axe(it, page, f"refused, {scheme}, {kind}", checked)
            page.get_by_role("link", name="2 to review").click()
            expect(page.get_by_role("heading", name="To review")).to_be_visible()
            expect(anna.cards).to_have_count(2)
            check_axe(it, page, f"to review, {scheme}, {kind}", checked)
            # Nothing is wider than the window.
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), kind
            context.close()
    return f"{len(checked)} views"


MANY = 20000
MANY_SQL = f"""
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY})
INSERT INTO customers (first_name, last_name, street, county, post_code, "Tel No.", email)
SELECT 'First' || i, 'Last' || (i * 7919 % {MANY}), i || ' Long Road', 'Kent', 'AB1 2CD', '01632 ' || i, 'person' || i || '@example.com' FROM n;
"""


@scene
def twenty_thousand_customers(it):
    anna = it.window()
    began, seen = time.time(), set()
    expect(anna.page.locator("progress")).to_be_visible()
    while anna.page.locator(".customers li").count() == 0:
        seen.add(anna.page.locator("progress").evaluate_all("bars => bars[0]?.value ?? null"))
        anna.page.wait_for_timeout(100)
        assert time.time() - began < 120
    expect(anna.page.locator(".count")).to_have_text(f"{MANY + 60:,} customers", timeout=60000)
    first = time.time() - began
    assert len(seen - {None}) > 3, f"the progress was not seen: {seen}"
    assert anna.page.locator(".customers li").count() == 60
    began = time.time()
    anna.page.get_by_label("Search customers").fill("last777")
    expect(anna.page.locator(".count")).to_contain_text(" of ")
    searching = time.time() - began
    anna.page.get_by_label("Search customers").fill("joe shaw")
    anna.page.get_by_role("link", name="Shaw, Joe").click()
    began = time.time()
    anna.write("Street", "2 Quick St")
    it.until(lambda: it.shopper()["customer"]["street"], "2 Quick St")
    editing = time.time() - began
    began = time.time()
    it.gateway.merge("shoppers", JOE, {"customer": {"firstName": {"old": "Joe", "new": "Joseph"}}})
    expect(anna.field("First name")).to_have_value("Joseph")
    live = time.time() - began
    expect(anna.page.locator(".customers .name")).to_have_text(["Shaw, Joseph"])
    began = time.time()
    anna.page.reload()
    expect(anna.field("First name")).to_have_value("Joseph")
    opening = time.time() - began
    expect(anna.page.locator(".count")).to_have_text(f"{MANY + 60:,} customers", timeout=30000)
    anna.page.get_by_role("button", name="Show 60 more").click()
    expect(anna.page.locator(".customers li")).to_have_count(120)
    assert max(searching, live) < 5 and opening < 15, (searching, live, opening)
    return (f"there in {first:.1f} s, a search {searching:.1f} s, an edit in the database {editing:.1f} s, a live change "
            f"{live:.1f} s, opened again {opening:.1f} s, the list then {time.time() - began:.1f} s")


def main():
    names = sys.argv[1:] or list(SCENES)
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                options, sql, secret = [], None, None
                app = pathlib.Path(folder) / "app"
                shutil.copytree(APP, app)
                if name == "whoever_asks_for_tokens":
                    secret, options = with_tokens(folder, "--operator")
                if name == "twenty_thousand_customers":
                    sql = (ROOT / "Samples/shop/sqlite.sql").read_text() + MANY_SQL
                gateway = Gateway(folder, "--serve-app", str(app), *options, sql=sql)
                it = Stage(browser, gateway)
                it.app, it.secret = app, secret
                began = time.time()
                try:
                    note = SCENES[name](it)
                    assert not it.errors, f"errors in a page: {it.errors}"
                    print(f"ok     {name} ({time.time() - began:.1f} s){': ' + note if note else ''}", flush=True)
                except Exception as error:  # each scene is reported
                    failed += 1
                    print(f"FAILED {name}: {type(error).__name__} in line {error.__traceback__.tb_next.tb_lineno}: {str(error)[:700]} {it.errors}", flush=True)
                finally:
                    for context in it.contexts:
                        context.close()
                    gateway.kill()
        browser.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
