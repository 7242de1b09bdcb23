#!/usr/bin/env python3
"""Draws the pictures of the console in Samples/pictures.

Needs the programs of console.py, and Debian's `fonts-inter`, `pngquant` and `optipng`. Run by hand after a change of the
console:

    python3 Tests/Console/pictures.py
"""

import sys
import tempfile

from playwright.sync_api import expect, sync_playwright

from console import CHROMIUM, PHONE, Stage
from gateways import ROOT, Gateway, fill

sys.path.append(str(ROOT / "Tests/Clients/JavaScript"))

from screenshots import PICTURES, framed  # noqa: E402


def shot(page, top=0):
    page.mouse.move(1, 400)
    page.evaluate("top => { document.activeElement.blur(); scrollTo(0, top); }", top)
    page.wait_for_timeout(300)
    return page.screenshot()


def record(it, browser):
    page = it.page("#/record/shoppers/123", viewport={"width": 1280, "height": 860}, device_scale_factor=1.5)
    address = page.locator(".group", has=page.get_by_role("heading", name="customer.address")).first
    expect(address).to_contain_text("overwrote")
    top = page.evaluate("document.querySelector('#entry-2').getBoundingClientRect().top - 16")
    framed(browser, "console-record.png", [("", shot(page, top), 1280)])


def rules(it, browser):
    page = it.page("#/rules", viewport={"width": 1280, "height": 760}, device_scale_factor=1.5)
    page.get_by_label("Rule files").set_input_files([
        {"name": file.name, "mimeType": "text/yaml",
         "buffer": file.read_bytes().replace(b"firstName: first_name", b"firstName: {column: first_name, on-conflict: reject}")}
        for file in sorted((ROOT / "MergeRules").glob("*.yaml"))])
    page.get_by_role("button", name="Rehearse").click()
    page.locator(".card summary").first.click()
    expect(page.locator(".pair")).to_be_visible()
    top = page.evaluate("document.querySelector('section.panel').getBoundingClientRect().top + scrollY - 24")
    framed(browser, "console-rules.png", [("", shot(page, top), 1280)])


def phone(it, browser):
    options = {"viewport": PHONE, "device_scale_factor": 1.5, "is_mobile": True, "has_touch": True}
    overview = it.page("#/overview", **options)
    expect(overview.locator(".chart").first).to_be_visible()
    conflicts = it.page("#/conflicts?id=123&resource=shoppers", color_scheme="dark", **options)
    expect(conflicts.locator(".card").first).to_contain_text("met carla (office).")
    history = it.page("#/record/shoppers/123", **options)
    expect(history.locator(".entry").first).to_be_visible()
    top = history.evaluate("document.querySelector('#entry-2').getBoundingClientRect().top - 12")
    framed(browser, "console-phone.png", [("", shot(overview), 390), ("", shot(conflicts), 390), ("", shot(history, top), 390)], round=26)


def main():
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        gateway = Gateway(folder, "sqlite")
        fill(gateway)
        try:
            for picture in (record, rules, phone):
                picture(Stage(browser, gateway), browser)
        finally:
            browser.close()
            gateway.close()


if __name__ == "__main__":
    main()
