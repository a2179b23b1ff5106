"""An origin of a page and two versions of its script. Sends a version as the difference from the client's older version."""

import base64
import hashlib
import http.server
import subprocess
import tempfile
import threading

# A rule for each line of the bundle. The second version changes a few rules.
RULES = [f'rules["{number}"] = "{number * 2654435761 % 1000003}";' for number in range(6_000)]


def bundle(version):
    rules = [rule.replace('";', ' changed";') if version == 2 and number % 500 == 0 else rule
             for number, rule in enumerate(RULES)]
    return "\n".join(["var rules = {};", *rules, f'document.title = "version {version}, " + rules["500"];']).encode()


BUNDLES = {f"/app/{version}/bundle.js": bundle(version) for version in (1, 2)}


def difference(content, dictionary):
    """Returns content in the coding dcz (RFC 9842 §5)."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(dictionary)
        file.flush()
        frames = subprocess.run(
            ["zstd", "-q", "-c", "-D", file.name], input=content, stdout=subprocess.PIPE, check=True).stdout
    return bytes.fromhex("5e2a4d1820000000") + hashlib.sha256(dictionary).digest() + frames


def named(content):
    return f":{base64.b64encode(hashlib.sha256(content).digest()).decode()}:"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = []
    lock = threading.Lock()

    def do_GET(self):
        content, fields = self.answer()
        self.note(fields.get("Content-Encoding", "plain"))
        self.send_response(200)
        for name, value in {"Cache-Control": "max-age=3600", "Content-Length": str(len(content)), **fields}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def answer(self):
        if self.path.startswith("/page/"):
            script = f"/app/{self.path[6:]}/bundle.js"
            page = f'<!doctype html><link rel=icon href="data:,"><title>none</title><script src="{script}"></script>'
            return page.encode(), {"Content-Type": "text/html"}
        if self.path == "/app/0/bundle.js":
            # Tells a client whether it already has a dictionary. Browsers keep dictionaries some time after they run a
            # script.
            name = self.headers.get("Available-Dictionary", "none")
            return name.encode(), {"Content-Type": "text/plain", "Cache-Control": "no-store"}
        content, first = BUNDLES[self.path], BUNDLES["/app/1/bundle.js"]
        fields = {"Content-Type": "text/javascript", "Vary": "Accept-Encoding, Available-Dictionary",
                  "Use-As-Dictionary": 'match="/app/*/bundle.js"'}
        accepted = self.headers.get("Accept-Encoding", "").split(", ")
        if content is not first and "dcz" in accepted and self.headers.get("Available-Dictionary") == named(first):
            return difference(content, first), {**fields, "Content-Encoding": "dcz"}
        return content, fields

    def note(self, coding):
        with self.lock:
            self.seen.append(f"{self.path} {coding}")

    @classmethod
    def take(cls):
        """Returns the requests since the last call, except requests for a dictionary."""
        with cls.lock:
            taken, cls.seen = [line for line in cls.seen if not line.startswith("/app/0/")], []
        return sorted(taken)

    def log_message(self, *_):
        pass


def start(port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
