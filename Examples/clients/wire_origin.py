"""An origin that records the bytes of each request, and answers with given bytes."""

import queue
import socket
import threading


class Origin:
    """Each path has a script: the bytes of its response, or a function that receives the connection after the head of a request."""

    def __init__(self, port):
        self.scripts = {}
        self.requests = queue.Queue()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(Connection(connection),), daemon=True).start()

    def serve(self, connection):
        try:
            while True:
                head = connection.read_until(b"\r\n\r\n")
                self.requests.put(head)
                script = self.scripts[head.split(b" ")[1]]
                script(connection) if callable(script) else connection.send(script)
        except OSError:
            connection.close()

    def seen(self, *paths):
        """Returns the requests for these paths since the last call. An aborted request may arrive late."""
        heads = []
        while not self.requests.empty():
            heads.append(self.requests.get())
        return [head for head in heads if not paths or head.split(b" ")[1].split(b"?")[0] in paths]


class Connection:
    """A socket with reads up to a delimiter, and of a number of bytes."""

    def __init__(self, connection):
        self.socket = connection
        self.rest = b""

    def fill(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError("the other side has ended the connection")
        self.rest += data

    def read_until(self, delimiter):
        while delimiter not in self.rest:
            try:
                self.fill()
            except EOFError as error:
                raise ConnectionResetError(str(error)) from None
        found, _, self.rest = self.rest.partition(delimiter)
        return found + delimiter

    def read(self, count):
        found = bytearray(self.rest[:count])
        self.rest = self.rest[count:]
        while len(found) < count:
            data = self.socket.recv(min(1 << 20, count - len(found)))
            if not data:
                raise EOFError("the other side has ended the connection")
            found += data
        return bytes(found)

    def read_to_end(self):
        try:
            while True:
                self.fill()
        except EOFError:
            found, self.rest = self.rest, b""
            return found

    def read_chunks(self):
        content = b""
        while True:
            size = int(self.read_until(b"\r\n"), 16)
            content += self.read(size)
            assert self.read(2) == b"\r\n"
            if size == 0:
                return content

    def read_response(self, head_only=False):
        """Returns the status, the field lines and the content."""
        lines = self.read_until(b"\r\n\r\n").split(b"\r\n")[:-2]
        status, fields = int(lines[0].split(b" ")[1]), lines[1:]
        named = {line.split(b":")[0].lower(): line.split(b":", 1)[1].strip() for line in fields}
        if head_only or status in (204, 304) or status < 200:
            return status, fields, b""
        if named.get(b"transfer-encoding") == b"chunked":
            return status, fields, self.read_chunks()
        if b"content-length" in named:
            return status, fields, self.read(int(named[b"content-length"]))
        return status, fields, self.read_to_end()

    def send(self, data):
        self.socket.sendall(data)

    def close(self):
        self.socket.close()
