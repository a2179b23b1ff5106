"""The measurements of the inspector's check: accessibility, widths, growth, times."""

import socket
import statistics
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

WIDTHS = [360, 412, 768, 1024, 1280, 1920, 3840]
LIMIT = 200  # milliseconds, for the first paint and for each page of the table

# Elements that reach beyond the screen, except inside a box that scrolls or cuts them off.
WIDE = """width => [...document.body.querySelectorAll('*')].filter(element => {
    const box = element.getBoundingClientRect()
    if (box.width == 0 || box.height == 0 || box.right <= width + 1) return false
    for (let parent = element.parentElement; parent && parent != document.body; parent = parent.parentElement)
        if (getComputedStyle(parent).overflowX != 'visible' && parent.id != 'main') return false
    return true
}).map(element => `${element.tagName.toLowerCase()}.${element.className}`)"""

# A stream of 10,000 records a second in place of the server's, with many hosts and long addresses.
FAKE_STREAM = """(() => {
    const outcomes = ['hit', 'hit', 'hit', 'stale', 'revalidated', 'miss', 'error', 'coalesced', 'tier']
    let number = 0
    window.EventSource = class extends EventTarget {
        static CLOSED = 2
        readyState = 1
        constructor() {
            super()
            setTimeout(() => this.send('state', {recording: true, exists: true, capacity: 32768, count: 1}))
            this.timer = setInterval(() => this.send('records', {lost: 0, removals: [], records: Array.from({length: 500}, () => {
                number += 1
                const host = `host${number % 5000}.example.com`
                return {time: new Date().toISOString(), outcome: outcomes[number % 9], status: 200, method: 'GET',
                    url: `https://${host}/${number}/${'a'.repeat(200)}`, partition: '', host, disk_bytes: 1000, network_bytes: 0,
                    head_milliseconds: 0.1, milliseconds: 0.2, process: 1, is_background: false, is_truncated: false}
            })}), 50)
            window.sent = () => number
        }
        send(name, data) { this.dispatchEvent(new MessageEvent(name, {data: JSON.stringify(data), lastEventId: '1-1'})) }
        close() { clearInterval(this.timer) }
    }
})()"""

axe = Axe()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


# Where Chromium serves the modules of its developer tools.
DEVTOOLS = f"http://127.0.0.1:{free_port()}"


def accessibility_problems(page):
    """Returns the findings of axe-core."""
    found = axe.run(page).response["violations"]
    return [f"{item['id']}: {item['help']}: {node['target']}" for item in found for node in item["nodes"][:3]]


def width_problems(page, width):
    """Returns the elements that make the page scroll sideways."""
    sideways = page.evaluate(
        "[document.documentElement, document.getElementById('main')].some(box => box.scrollWidth > box.clientWidth)")
    return page.evaluate(WIDE, width)[:3] + (["scrolls sideways"] if sideways else [])


def growth_problems(page):
    """Whether nodes or memory grow with a stream of 10,000 records a second."""
    session = page.context.new_cdp_session(page)

    def size():
        session.send("HeapProfiler.collectGarbage")
        return page.evaluate("document.querySelectorAll('*').length"), session.send("Runtime.getHeapUsage")["usedSize"]

    expect(page.locator(".live-table .rows .row").first).to_be_visible()
    page.wait_for_timeout(3000)
    nodes, memory = size()
    sent = page.evaluate("sent()")
    frames = page.evaluate("""() => new Promise(done => {
        let count = 0
        const start = performance.now()
        const step = () => { count += 1; performance.now() - start < 10000 ? requestAnimationFrame(step) : done(count / 10) }
        requestAnimationFrame(step)
    })""")
    later_nodes, later_memory = size()
    rate = (page.evaluate("sent()") - sent) / 10
    page.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(1500)
    paused_nodes, paused_memory = size()
    print(f"live: {rate:.0f} records a second, {frames:.0f} frames a second, {nodes} → {later_nodes} nodes, "
          f"{memory / 1e6:.1f} → {later_memory / 1e6:.1f} MB, paused {paused_memory / 1e6:.1f} MB")
    problems = []
    if later_nodes > nodes + 200 or paused_nodes > nodes + 200 or later_nodes > 3000:
        problems.append(f"live: {nodes} nodes become {later_nodes}")
    if later_memory > memory + 8e6 or paused_memory > memory + 16e6:
        problems.append(f"live: {memory / 1e6:.1f} MB become {later_memory / 1e6:.1f} MB")
    return problems


def memory_problems(browser, address, server):
    """Whether a query makes the server use more than 400 MB."""
    page = browser.new_page()
    page.goto(address, wait_until="load")
    queries = [
        "SELECT randomblob(900000000)",
        "SELECT " + ", ".join(["randomblob(500000)"] * 128),
        "SELECT " + ", ".join(["randomblob(500000)"] * 1900),
        "SELECT " + " + ".join(f"length(hex(zeroblob({240_000 + number})))" for number in range(900)),
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 9000) SELECT count(*) FROM "
        "(SELECT DISTINCT randomblob(250000) FROM n)",
    ]
    for query in queries:
        page.evaluate("""async sql => {
            const {csrf} = await (await fetch('./api/session')).json()
            await (await fetch('./api/sql', {method: 'POST', body: JSON.stringify({sql}),
                headers: {'Content-Type': 'application/json', 'X-CSRF-Token': csrf}})).arrayBuffer()
        }""", query)
    page.close()
    try:
        with open(f"/proc/{server.pid}/status", encoding="utf-8") as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1000
    except FileNotFoundError:
        return []
    print(f"queries: the server used at most {peak:.0f} MB")
    return [f"queries: the server used {peak:.0f} MB"] if peak > 400 else []


def million_problems(page, address):
    """Returns the times above the limit on a million entries."""
    page.goto(address, wait_until="load")
    base = page.url.split("#")[0]
    # The best of three, because other programs use the machine, too.
    paints = [(panel, min(first_paint(page, base, panel) for _ in range(3)))
              for panel in ("overview", "live", "eviction", "failures", "entries")]
    page.goto("about:blank")
    page.goto(f"{base}#/entries", wait_until="load")
    page.wait_for_function("() => document.querySelector('.entries-table .rows .row')")
    rows_shown = page.evaluate("performance.now()")
    page.locator(".entries-table").focus()
    for _ in range(40):
        page.keyboard.press("End")
        page.wait_for_timeout(60)
    for name in ("URL", "Stored"):
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_timeout(800)
    page.get_by_label("URL contains").fill("https://host77.")
    page.wait_for_timeout(1000)
    pages = pages_of(page)
    times = [time for _, time in pages]
    problems = [f"first paint of {panel}: {time:.0f} ms" for panel, time in paints if time > LIMIT]
    problems += [f"page {number} of the table: {time:.0f} ms: {query[:120]}"
                 for number, (query, time) in enumerate(pages) if time > LIMIT]
    # A panel that reads the whole table, such as Overview, must not hold up the next one.
    if rows_shown > 5 * LIMIT:
        problems.append(f"the first rows came after {rows_shown:.0f} ms")
    if len(times) < 20:
        problems.append(f"only {len(times)} pages of the table")
    print(f"a million entries: first paint {', '.join(f'{panel} {time:.0f} ms' for panel, time in paints)}; "
          f"{len(times)} pages of the table, median {statistics.median(times or [0]):.0f} ms, slowest {max(times or [0]):.0f} ms; "
          f"first rows after {rows_shown:.0f} ms")
    return problems


def first_paint(page, base, panel):
    page.goto("about:blank")
    page.goto(f"{base}#/{panel}", wait_until="load")
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length > 0")
    return page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")


def pages_of(page):
    """Returns the query and the time of each page of the table that the browser has loaded."""
    return page.evaluate("""performance.getEntriesByType('resource').filter(entry => entry.name.includes('/api/entries?'))
        .map(entry => [entry.name.split('?')[1], entry.duration])""")
