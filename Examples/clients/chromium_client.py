"""Loads a page and its next version in browsers with and without the dictionary, and compares their responses.

    chromium_client.py ORIGIN-PORT URL           over http://localhost, which counts as a secure context
    chromium_client.py ORIGIN-PORT URL PIN       over TLS, with the certificate whose key has this SHA-256
"""

import sys
import time

import dictionary_origin
from dictionary_origin import BUNDLES, Handler, difference, named
from playwright.sync_api import sync_playwright

port, url, pin = int(sys.argv[1]), sys.argv[2], (sys.argv[3:] or [None])[0]
FIRST, SECOND = "/app/1/bundle.js", "/app/2/bundle.js"
SHORT = len(difference(BUNDLES[SECOND], BUNDLES[FIRST]))
checks = 0

FLAGS = ["--no-sandbox"]
if pin:
    # Without this feature, Chromium sends no dictionary to a host other than localhost on a connection with a
    # certificate of a private authority.
    FLAGS += [f"--ignore-certificate-errors-spki-list={pin}", "--host-resolver-rules=MAP cache.test 127.0.0.1",
              "--disable-features=CompressionDictionaryTransportRequireKnownRootCert"]


def expect(what, got, wanted):
    global checks
    checks += 1
    assert got == wanted, f"{what}: got {got!r}, wanted {wanted!r}"


class Browser:
    """A browser with a separate profile."""

    def __init__(self, chromium):
        self.page = chromium.new_context().new_page()

    def load(self, version):
        """Returns the title that the script sets, the coding and the length of the script, and the cache's action."""
        with self.page.expect_response(f"**/app/{version}/bundle.js") as script:
            self.page.goto(f"{url}/page/{version}")
        fields = script.value.all_headers()
        length = self.page.evaluate("""name => {
            const entry = performance.getEntriesByType("resource").find(entry => entry.name.endsWith(name))
            return [entry.encodedBodySize, entry.decodedBodySize]
        }""", f"/app/{version}/bundle.js")
        cache = "hit" if ";hit" in fields["cache-status"] else "forwarded"
        return self.page.title(), fields.get("content-encoding"), length, cache

    def await_dictionary(self):
        """Waits until requests name the first version."""
        for _ in range(200):
            name = self.page.evaluate('fetch("/app/0/bundle.js", {cache: "no-store"}).then(answer => answer.text())')
            if name == named(BUNDLES[FIRST]):
                return
            time.sleep(0.05)
        raise AssertionError(f"the browser offers {name}")


whole = {path: [len(content), len(content)] for path, content in BUNDLES.items()}
rule = 500 * 2654435761 % 1000003
old = (f"version 1, {rule}", None, whole[FIRST])
plain = (f"version 2, {rule} changed", None, whole[SECOND])
small = (plain[0], "dcz", [SHORT, len(BUNDLES[SECOND])])

dictionary_origin.start(port)
with sync_playwright() as playwright:
    chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)

    first = Browser(chromium)
    expect("the first version", first.load(1), (*old, "forwarded"))
    expect("requests for it", Handler.take(), [f"{FIRST} plain", "/page/1 plain"])
    first.await_dictionary()
    expect("the second version, with the dictionary", first.load(2), (*small, "forwarded"))
    expect("requests for it", Handler.take(), [f"{SECOND} dcz", "/page/2 plain"])

    expect("a browser without the dictionary", Browser(chromium).load(2), (*plain, "forwarded"))
    expect("requests of that one", Handler.take(), [f"{SECOND} plain"])

    third = Browser(chromium)
    expect("the stored first version", third.load(1), (*old, "hit"))
    third.await_dictionary()
    expect("the stored difference", third.load(2), (*small, "hit"))
    expect("the stored plain version", Browser(chromium).load(2), (*plain, "hit"))
    expect("requests for stored responses", Handler.take(), [])
    chromium.close()
print(f"{url.split(':')[0]}: {SHORT} bytes in place of {len(BUNDLES[SECOND])}, {checks} checks")
