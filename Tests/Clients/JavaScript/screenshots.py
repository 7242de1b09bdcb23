#!/usr/bin/env python3
"""Draws the pictures of the shop in Samples/pictures.

Needs the programs of shop.py, and Debian's `fonts-inter`, `pngquant` and `optipng`. Run by hand after a change of the
app:

    python3 Tests/Clients/JavaScript/screenshots.py
"""

import base64
import subprocess
import sys
import tempfile

from playwright.sync_api import expect, sync_playwright

from browser import CHROMIUM, ROOT, Gateway
from shop import APP, PHONE, Stage

PICTURES = ROOT / "Samples/pictures"
LARGEST = 150_000

FRAME = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 26px; display: inline-flex; gap: 26px; background: %(background)s; font: 600 15px Inter, sans-serif; color: %(ink)s; }
figure { margin: 0; } figcaption { margin: 0 0 10px 4px; }
img { display: block; border-radius: %(round)spx; box-shadow: 0 2px 4px rgb(0 0 0 / 14%%), 0 10px 34px rgb(0 0 0 / 16%%); }
</style>%(figures)s"""


def framed(browser, name, shots, background="#e7e3d8", ink="#20282b", round=12):
    """Puts screenshots side by side, and writes them as small as they get."""
    figures = "".join(
        f'<figure>{f"<figcaption>{title}</figcaption>" if title else ""}'
        f'<img width="{width}" src="data:image/png;base64,{base64.b64encode(shot).decode()}"></figure>'
        for title, shot, width in shots)
    page = browser.new_page(device_scale_factor=1.5, viewport={"width": 2000, "height": 1200})
    page.set_content(FRAME % {"background": background, "ink": ink, "round": round, "figures": figures})
    target = PICTURES / name
    page.locator("body").screenshot(path=target)
    page.close()
    subprocess.run(["pngquant", "--force", "--ext", ".png", "--speed", "1", "96", target], check=True)
    subprocess.run(["optipng", "-quiet", "-o5", target], check=True)
    size = target.stat().st_size
    print(f"{target.relative_to(ROOT)}: {size:,} bytes")
    if size > LARGEST:
        sys.exit(f"{name} is larger than {LARGEST:,} bytes")


def shot(window):
    """The window without a mouse pointer and a focus."""
    window.page.mouse.move(1, 400)
    window.page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    return window.page.screenshot()


def fresh(body):
    """Draws with a new gateway and new profiles."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        gateway = Gateway(folder, "--serve-app", str(APP))
        try:
            body(Stage(browser, gateway), browser)
        finally:
            browser.close()
            gateway.kill()


def two_edits_meet(it, browser):
    size = {"viewport": {"width": 600, "height": 800}, "device_scale_factor": 1.5}
    anna, ben = [it.window(user, **size).open() for user in ("anna", "ben")]
    anna.network(False)
    anna.write("Street", "7 Mill Lane")
    ben.write("Street", "2 High St")
    ben.sent()
    anna.network(True)
    expect(anna.cards).to_have_count(1)
    expect(ben.form.locator(".group.address .meanwhile")).not_to_be_empty()
    anna.sent()
    framed(browser, "shop-two-edits.png", [
        ("Anna, back from where there was no network", shot(anna), 600),
        ("Ben, at the same moment", shot(ben), 600)])


def desktop(it, browser):
    anna = it.window(viewport={"width": 1160, "height": 760}, device_scale_factor=1.5).open()
    anna.network(False)
    anna.write("First name", "Joseph")
    anna.field("What to add").fill("Rice")
    anna.field("How much of it").fill("1 kg")
    anna.field("Aisle of it").select_option(label="Rice & Pasta")
    anna.button("Add").click()
    expect(anna.item("Rice").locator(".state").first).to_have_text("Not sent yet")
    framed(browser, "shop-desktop.png", [("", shot(anna), 1160)])


def phone(it, browser):
    options = {"viewport": PHONE, "device_scale_factor": 1.5, "is_mobile": True, "has_touch": True}
    anna, ben = it.window(**options), it.window("ben", color_scheme="dark", **options).open()
    expect(anna.page.locator(".customers li").first).to_be_visible()
    ben.write("E-mail", "noor.penrose@example.com")
    expect(ben.cards).to_have_count(1)
    ben.sent()
    framed(browser, "shop-phone.png", [("", shot(anna), 390), ("", shot(ben), 390)], round=26)


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for picture in (two_edits_meet, desktop, phone):
        fresh(picture)
