"""Python's http.server over a directory, with a log line for each request: "METHOD PATH STATUS"."""

import functools
import http.server
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log_path = ""

    def end_headers(self):
        if self.path.startswith("/fresh/"):
            self.send_header("Cache-Control", "max-age=3600")
        elif self.path.startswith("/check/"):
            self.send_header("Cache-Control", "no-cache")
        elif self.path.startswith("/stale/"):
            self.send_header("Cache-Control", "max-age=0")
        super().end_headers()

    def do_QUERY(self):
        """Answers with the content of the request (RFC 10008)."""
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_request(self, code="-", size="-"):
        with open(self.log_path, "a") as log:
            log.write(f"{self.command} {self.path} {int(code)}\n")

    def log_message(self, format, *args):
        pass


def main():
    port, directory, Handler.log_path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    handler = functools.partial(Handler, directory=directory)
    http.server.ThreadingHTTPServer(("127.0.0.1", port), handler).serve_forever()


main()
