"""The steps of a user in each panel of the inspector."""

import csv
import io
import json
import re
from urllib.parse import quote
from playwright.sync_api import expect
from measures import DEVTOOLS
from store import long_url, url


def open_panel(page, base, route):
    page.goto(f"{base}#/{route}")
    page.wait_for_timeout(200)


def rows(page):
    return page.locator(".grid .rows .row")


def routes(page, base):
    """The panels for accessibility, widths and pictures. Omits Change, which a read-only inspector lacks."""
    identifier = page.evaluate(
        "async url => (await (await fetch(`./api/entries?prefix=${encodeURIComponent(url)}&limit=1`)).json()).entries[0]?.id",
        url("/picture/1"))
    text = quote(f"curl '{url('/language')}' -H 'Accept-Language: de'")
    return [("live", "live"), ("overview", "overview"), ("entries", "entries"), ("entry", f"entry?id={identifier}"),
            ("why", f"why?text={text}"), ("eviction", "eviction"), ("sql", "sql"), ("failures", "failures")]


def toggle(page, *names):
    for name in names:
        page.get_by_role("button", name=name, exact=True).click()


def toggle_all_but_misses(page):
    toggle(page, "hit", "coalesced", "revalidated", "stale", "tier", "error", "removal")


def live(page, base):
    open_panel(page, base, "live")
    expect(rows(page).first).to_be_visible()
    expect(page.locator(".live-table .outcome").nth(1)).not_to_be_empty()
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    toggle_all_but_misses(page)
    expect(page.locator(".live-table .rows .outcome").filter(has_not_text="miss")).to_have_count(0)
    toggle_all_but_misses(page)
    page.get_by_label("Host").fill("no-such-host")
    expect(page.get_by_text("No recent request fits the filter.")).to_be_visible()
    page.get_by_label("Host").fill("")
    # Through to the entry, by keys. A removal leads to no entry; the host is one of entries that no process removes.
    toggle(page, "removal")
    page.get_by_label("Host").fill("static.example.net")
    expect(page.locator(".live-table .rows .url").filter(has_not_text="static.example.net")).to_have_count(0)
    page.locator(".live-table").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".detail")).to_contain_text("Outcome")
    page.locator(".detail").get_by_role("link", name="Entry", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Entry")
    page.keyboard.press("1")
    expect(page.get_by_role("heading", level=1)).to_have_text("Live")
    page.get_by_label("Host").fill("")
    toggle(page, "removal")
    page.get_by_role("button", name="Resume").click()


def decisions(page, base):
    """A row of Live tells why a response is never stored, and who removed an entry."""
    open_panel(page, base, "live")
    detail = page.locator(".detail")
    toggle_all_but_misses(page)
    row = rows(page).filter(has_text="/never").first
    expect(row).to_be_visible()
    page.keyboard.press("p")
    row.click()
    expect(detail).to_contain_text("uri-miss, no response is stored for the URL")
    expect(detail).to_contain_text(
        "Not stored, RFC 9111 §3: the no-store cache directive is not present in the response. Field: Cache-Control")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    detail.get_by_role("button", name="Copy as curl").click()
    expect(detail.get_by_role("button", name="Copy as curl")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"curl '{url('/never')}'"
    detail.get_by_role("button", name="Close").click()
    expect(detail).to_be_hidden()
    page.get_by_role("button", name="Resume").click()
    toggle_all_but_misses(page)
    records = page.evaluate(f"""() => new Promise(done => {{
        const source = new EventSource('./api/live?recent=1000')
        const removals = []
        setTimeout(() => {{ source.close(); done(removals) }}, 20000)
        source.addEventListener('records', event => {{
            removals.push(...JSON.parse(event.data).removals)
            if (removals.length > 0) {{ source.close(); done(removals) }}
        }})
    }})""")
    assert [(record["cause"], record["url"]) for record in records[:1]] == [("removed", url("/removed"))], records


def archive(page, base):
    """Saves the requests of Live as an HTTP Archive, and opens it with the importer of Chromium's network panel."""
    open_panel(page, base, "live")
    expect(rows(page).first).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as HAR").click()
    assert download.value.suggested_filename == "requests.har"
    with open(download.value.path(), encoding="utf-8") as file:
        text = file.read()
    log = json.loads(text)["log"]
    assert log["version"] == "1.2" and log["entries"], log
    for item in log["entries"]:
        assert {"startedDateTime", "time", "request", "response", "cache", "timings"} <= item.keys(), item
        assert {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"} <= item["request"].keys()
        assert {"status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
                "bodySize"} <= item["response"].keys()
        assert item["time"] >= 0 and all(item["timings"][name] >= 0 for name in ("send", "wait", "receive")), item
    statuses = [field["value"] for item in log["entries"] for field in item["response"]["headers"]]
    assert any(status.startswith("cachestore; hit") for status in statuses), statuses[:9]
    assert any("fwd=" in status for status in statuses), statuses[:9]
    devtools = page.context.browser.new_page()
    devtools.goto(f"{DEVTOOLS}/devtools/devtools_app.html")
    imported = devtools.evaluate("""async text => {
        const har = await import('./models/har/har.js')
        const log = new har.HARFormat.HARRoot(JSON.parse(text)).log
        return har.Importer.Importer.requestsFromHARLog(log).map(request => [request.url(), request.statusCode])
    }""", text)
    devtools.close()
    assert sorted(imported) == sorted([item["request"]["url"], item["response"]["status"]] for item in log["entries"]), imported[:3]


def hidden(page, base):
    """Six streams use up the connections of a browser to a server. Hidden pages close theirs, so a seventh page works."""
    script = """() => {
        Object.defineProperty(document, 'hidden', {value: true, configurable: true})
        document.dispatchEvent(new Event('visibilitychange'))
    }"""
    pages = []
    for _ in range(7):
        other = page.context.new_page()
        other.goto(f"{base}#/live", wait_until="commit")
        expect(rows(other).first).to_be_visible()
        other.evaluate(script)
        pages.append(other)
    first = pages[0]
    first.evaluate("""() => {
        Object.defineProperty(document, 'hidden', {value: false, configurable: true})
        document.dispatchEvent(new Event('visibilitychange'))
    }""")
    # The stream continues after the last event: no record comes twice.
    first.wait_for_timeout(1500)
    shown = first.evaluate("[...document.querySelectorAll('.live-table .rows .row')].map(row => row.textContent)")
    assert len(shown) == len(set(shown)), "a record came twice"
    for other in pages:
        other.close()


def live_again(page, base):
    """Returns to Live before its stream begins. The requests of the first visit must still be there to read and filter."""
    open_panel(page, base, "live")
    expect(rows(page).first).to_be_visible()
    page.keyboard.press("2")
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    held = []
    page.route("**/api/live?*", lambda route: held.append(route))
    page.keyboard.press("1")
    expect(page.get_by_role("heading", level=1)).to_have_text("Live")
    page.get_by_role("button", name="Pause").click()
    page.get_by_label("Host").fill("no-such-host")
    expect(page.get_by_text("No recent request fits the filter.")).to_be_visible()
    page.get_by_label("Host").fill("")
    expect(rows(page).first).to_be_visible()
    for route in held:
        route.continue_()
    page.unroute("**/api/live?*")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".heading .status")).to_contain_text("Live · ")


def overview(page, base):
    open_panel(page, base, "overview")
    expect(page.get_by_role("heading", name="Answers over time")).to_be_visible()
    slider = page.get_by_role("slider", name="Time in the chart of requests")
    expect(slider).to_be_visible()
    slider.focus()
    page.keyboard.press("End")
    expect(slider).not_to_have_attribute("aria-valuetext", "no time")
    expect(page.locator(".latency svg")).to_be_visible()
    page.get_by_label("Requests of").select_option("15")
    page.locator(".shares a").first.click()
    expect(page.get_by_role("link", name="Clear the filter")).to_be_visible()
    expect(page.locator(".shares th").first).to_have_text("Content type")
    page.locator(".shares a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Entries")
    assert "host=" in page.url, page.url


def entries(page, base):
    open_panel(page, base, "entries")
    expect(rows(page).first).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type(url("/page/1"))
    expect(page.locator(".heading .status")).to_contain_text("15 entries")
    page.get_by_label("URL contains").fill("PARAMETER8=value")
    expect(page.locator(".heading .status")).to_contain_text("4 entries")
    # The end of a long URL is visible.
    end = rows(page).first.locator(".url .end")
    assert end.inner_text() == long_url(100)[-24:], end.inner_text()
    assert end.evaluate("end => end.scrollWidth <= end.clientWidth + 1"), "the end of a URL is cut"
    page.get_by_label("URL contains").fill("/language")
    expect(page.locator(".variant")).to_have_text(["de", "en"])
    page.get_by_label("URL contains").fill("")
    page.keyboard.press("Escape")
    for name in ("State", "URL", "Status", "Type", "Size", "Used", "Hits", "Stored"):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.get_by_role("columnheader", name=name)).not_to_have_attribute("aria-sort", "none")
        expect(rows(page).nth(5).locator(".size")).not_to_be_empty()
    page.get_by_role("button", name="Size", exact=True).click()
    # The largest body comes first.
    expect(page.locator('.rows [aria-rowindex="2"] .size')).to_have_text("41.2 kB")
    page.get_by_role("button", name="URL", exact=True).click()
    expect(page.get_by_role("columnheader", name="URL")).to_have_attribute("aria-sort", "ascending")
    page.get_by_label("Size to").fill("much")
    expect(page.get_by_role("alert")).to_contain_text("is no size")
    page.get_by_label("Size to").fill("1 GB")
    page.get_by_label("Content type").fill("video/*")
    expect(page.get_by_text("No entry fits the filter.")).to_be_visible()
    page.get_by_role("link", name="Clear the filter").click()
    expect(rows(page).nth(5)).to_be_visible()
    page.locator(".entries-table").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Entry")


def open_entry(page, base, address):
    open_panel(page, base, f"entry?url={quote(address)}&partition=")
    expect(page.get_by_role("heading", name="Freshness")).to_be_visible()


def entry(page, base):
    open_entry(page, base, url("/page/2?edition=morning"))
    expect(page.locator(".freshness svg")).to_be_visible()
    page.get_by_text("Age, term by term").first.click()
    expect(page.get_by_text("current_age")).to_be_visible()
    assert "session=secret" not in page.content(), "a secret shows before the user asks for it"
    page.get_by_role("button", name="Show the value of Set-Cookie").click()
    expect(page.get_by_text("session=secret")).to_be_visible()
    open_entry(page, base, url("/data/3"))
    expect(page.locator(".preview pre")).to_contain_text('"number": 3')
    open_entry(page, base, url("/coded"))
    expect(page.locator(".preview pre")).to_contain_text('"list": [\n    "coded",')
    expect(page.get_by_text("Shown without its content coding")).to_be_visible()
    page.get_by_role("link", name="Why?").last.click()
    expect(page.get_by_label("URL or curl command")).to_have_value(f"curl '{url('/coded')}' -H 'accept-language: de'")
    expect(page.locator(".verdict .outcome")).to_contain_text("Hit")
    open_entry(page, base, url("/binary"))
    expect(page.locator(".preview pre")).to_contain_text("0010  10 11 12")
    open_entry(page, base, url("/picture/3"))
    page.wait_for_function("() => document.querySelector('.preview img')?.naturalWidth === 64")
    open_entry(page, base, url("/language"))
    expect(page.get_by_text("≠ differs")).to_be_visible()
    open_panel(page, base, f"entry?url={quote(url('/none'))}&partition=")
    expect(page.get_by_text("No response is stored for this URL:")).to_be_visible()


def other_clock(page, base):
    """The browser runs on a machine whose clock is a day ahead. Times are relative to the clock of the store."""
    other = page.context.new_page()
    other.add_init_script("const ownNow = Date.now; Date.now = () => ownNow() + 86_400_000")
    for route in ("entries", f"entry?url={quote(url('/page/3?edition=morning'))}&partition=", "eviction", "failures"):
        other.goto(f"{base}#/{route}")
        expect(other.locator("main").get_by_text(re.compile(r"\d (s|min) ago|\bnow$")).first).to_be_visible()
        assert not re.search(r"\d (h|d) ago", other.locator("main").inner_text()), f"{route} has the clock of the browser"
    other.close()


def left_while_found(page, base):
    """Leaves Entry before the entry of a URL is found. The late answer must not change the displayed panel."""
    held = []
    page.route("**/api/entries?*", lambda route: held.append(route))
    with page.expect_request("**/api/entries?*"):
        page.goto(f"{base}#/entry?url={quote(url('/page/2?edition=morning'))}&partition=")
    page.keyboard.press("5")
    expect(page.get_by_role("heading", level=1)).to_have_text("Eviction")
    with page.expect_response("**/api/entries?*") as answer:
        for route in held:
            route.continue_()
    assert answer.value.json()["entries"], "the entry is not stored"
    page.unroute("**/api/entries?*")
    page.wait_for_timeout(200)
    assert "#/eviction" in page.url, page.url
    expect(page.get_by_role("heading", level=1)).to_have_text("Eviction")


def hostile(page, base):
    for path in ("/hostile", "/hostile.svg"):
        open_panel(page, base, "entries")
        open_entry(page, base, url(path))
        expect(page.locator(".preview pre")).to_contain_text("hostile")
        assert page.evaluate("window.hostile === undefined && !document.title.startsWith('hostile')"), "a stored body ran"
        assert page.locator("main img[src=x]").count() == 0, "the value of a field became markup"


def why(page, base):
    open_panel(page, base, "why")
    text = page.get_by_label("URL or curl command")
    text.fill(f"curl '{url('/page/4?edition=morning')}' -H 'Accept: text/html' --compressed")
    page.keyboard.press("Control+Enter")
    outcome = page.locator(".verdict .outcome")
    expect(outcome).to_contain_text("Hit")
    link = page.locator(".verdict a").first
    assert link.get_attribute("href").startswith("https://www.rfc-editor.org/rfc/rfc9111#section-"), link.get_attribute("href")
    page.get_by_label("At a later time").focus()
    page.keyboard.press("End")
    expect(outcome).to_contain_text("Validate")
    page.get_by_role("button", name="Last fresh second").click()
    expect(outcome).to_contain_text("Hit")
    text.fill(url("/none"))
    page.get_by_role("button", name="Explain").click()
    expect(outcome).to_contain_text("Forward")


def eviction(page, base):
    open_panel(page, base, "eviction")
    expect(page.locator(".next tbody tr").first).to_be_visible()
    page.get_by_role("slider", name="Limit").focus()
    page.keyboard.press("Home")
    expect(page.locator("section").first).to_contain_text("would go")
    page.get_by_label("in bytes").fill("100 kB")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_text("clairvoyant bound").last).to_be_visible(timeout=60_000)


def sql(page, base):
    query = "SELECT key, byte_size FROM cache_entries ORDER BY key LIMIT 3"
    open_panel(page, base, f"sql?sql={quote(query)}")
    expect(page.get_by_text("This query came with the link.")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".heading .status").first).to_contain_text("3 rows")
    page.get_by_role("button", name="CSV").click()
    found = list(csv.reader(io.StringIO(page.locator(".output pre").inner_text())))
    assert found[0] == ["key", "byte_size"] and len(found) == 4, found
    page.get_by_role("button", name="JSON").click()
    assert len(json.loads(page.locator(".output pre").inner_text())) == 3
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the result as a file").click()
    assert download.value.suggested_filename == "result.json"
    page.get_by_label("Save this query as").fill("Mine")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Saved queries").locator("optgroup[label=Yours] option")).to_have_text(["Mine"])
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="table", exact=True).click()
    expect(rows(page).first).to_be_visible()


def failures(page, base):
    open_panel(page, base, "failures")
    expect(page.get_by_text(url("/broken/0"))).to_be_visible()
    expect(page.get_by_text("WAL", exact=True)).to_be_visible()


def frame(page, base):
    open_panel(page, base, "live")
    for number, title in enumerate(["Live", "Overview", "Entries", "Why?", "Eviction", "SQL", "Failures"], 1):
        page.keyboard.press(str(number))
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    colours = set()
    for _ in range(3):
        page.keyboard.press("t")
        colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2, f"the themes have the colours {colours}"
    assert page.get_by_role("link", name="Change").count() == 0, "a read-only inspector has Change"


def change(page, base):
    open_panel(page, base, "entries")
    page.get_by_label("URL contains").fill(url("/style/1"))
    expect(page.locator(".heading .status")).to_contain_text("6 entries")
    page.locator(".entries-table").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press(" ")
    page.keyboard.press("ArrowDown")
    page.keyboard.press(" ")
    page.get_by_role("link", name="Change 2 selected entries…").click()
    page.get_by_label("Pin", exact=False).first.check()
    page.get_by_role("button", name="Dry run").click()
    page.get_by_role("button", name="Pin 2 entries").click()
    expect(page.get_by_text("2 keys pinned")).to_be_visible()
    open_panel(page, base, f"change?prefix={quote(url('/style/1'))}")
    page.get_by_label("Remove").check()
    page.get_by_role("button", name="Dry run").click()
    expect(page.locator(".verdict .outcome")).to_contain_text("6 entries would be removed")
    page.get_by_role("button", name="Remove 6 entries").click()
    expect(page.get_by_text("✓ Done")).to_be_visible()
    open_panel(page, base, f"change?prefix={quote(url('/data/1'))}")
    page.get_by_label("Refresh").check()
    page.get_by_role("button", name="Dry run").click()
    page.get_by_role("button", name="Refresh", exact=False).last.click()
    expect(page.get_by_text("keys refreshed")).to_be_visible(timeout=30_000)


READING = [("frame", frame), ("live", live), ("live again", live_again), ("decisions", decisions), ("archive", archive),
           ("hidden pages", hidden), ("overview", overview), ("entries", entries),
           ("entry", entry), ("entry left", left_while_found), ("another clock", other_clock), ("bodies with scripts", hostile), ("why", why),
           ("eviction", eviction), ("sql", sql), ("failures", failures)]
CHANGING = [("change", change)]
