"""Filters, keys, modes, print; no console message, no request but the page itself, nothing of hostile text runs."""
import sys
import time

from playwright.sync_api import sync_playwright

both, training, large = (f"file://{path}" for path in sys.argv[1:4])


def open_page(browser, url, **options):
    page = browser.new_page(viewport={"width": 1280, "height": 900}, **options)
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    begun = time.monotonic()
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    page.wait_for_selector("#one .turn, #one .faint")
    page.took = time.monotonic() - begun
    return page


def check_quiet(page, url):
    assert page.said == [], page.said
    assert [u for u in page.asked if not u.startswith("blob:")] == [url], page.asked
    assert page.evaluate("window.owned") is None


def count(page):
    return int(page.inner_text("#count").split()[0])


def check_filters(page):
    everything = count(page)
    assert everything == 320, everything
    sums = 0
    for name in ("solved", "lost", "failed", "errored"):
        page.click(f"[data-filter={name}]")
        sums += count(page)
    assert sums == everything, (sums, everything)
    page.click("[data-filter=repaired]")
    assert 0 < count(page) < everything
    page.click("[data-filter=flipped]")
    assert 0 < count(page) < everything
    page.click("[data-filter=all]")
    page.select_option("#run", "1")
    assert count(page) == 160
    page.select_option("#run", "")
    page.fill("#search", "s0-g3-1")
    assert count(page) == 2
    page.fill("#search", "")
    page.click("tr[data-task] >> nth=0")
    assert count(page) == 8


def check_keys(page):
    page.click("[data-filter=all]")
    page.focus("body")
    selected = "#list li[aria-selected=true]"
    first = page.inner_text(selected)
    page.keyboard.press("j")
    assert page.inner_text(selected) != first
    page.keyboard.press("k")
    assert page.inner_text(selected) == first
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    assert page.get_attribute("[data-filter=solved]", "aria-pressed") == "true"
    page.keyboard.press("?")
    assert page.is_visible("#keys")
    page.keyboard.press("Escape")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("d")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def check_colours(page):
    page.click("[data-filter=solved]")
    page.wait_for_selector("#one [data-mark=green]")
    green = "getComputedStyle(document.querySelector('#one [data-mark=green]')).backgroundColor"
    before = page.evaluate(green)
    page.keyboard.press("c")
    assert page.evaluate(green) != before
    assert "green" in page.get_attribute("#one [role=img]", "aria-label")


def main():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = open_page(browser, both)
        check_filters(page)
        check_keys(page)
        check_colours(page)
        page.click("[data-filter=repaired]")
        page.wait_for_selector("#one .turn")
        assert "</script>" in page.inner_text("#one")
        check_quiet(page, both)
        page.pdf(path="/dev/null")
        print("ok: filters, keys, colours, dark, print; hostile text stays text")

        page = open_page(browser, training, color_scheme="dark")
        assert page.locator(".plot svg, .plot table").count() == 4
        check_quiet(page, training)
        print(f"ok: a training, {page.locator('.plot svg').count()} plots")

        page = open_page(browser, large)
        assert count(page) >= 9900, count(page)
        check_quiet(page, large)
        print(f"ok: {count(page)} plays can be looked at after {page.took:.2f} s")
        browser.close()


main()
