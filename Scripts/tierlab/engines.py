"""Two engines of the tier: nginx with DAV, on a small disk and behind a separate link, and the S3 server of moto."""

import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request


class Link:
    """A network namespace, and a veth pair to it. Needs root."""

    count = 0

    def __init__(self):
        Link.count += 1
        number = os.getpid() % 10_000
        self.name = f"tier{number}-{Link.count}"
        self.outside, inside = f"to{number}-{Link.count}", f"ti{number}-{Link.count}"
        # 198.18.0.0/15 is for benchmarks of networks (RFC 2544).
        prefix = f"198.18.{number % 250}.{4 * Link.count}".rsplit(".", 1)
        base = int(prefix[1])
        self.address = f"{prefix[0]}.{base + 2}"
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.outside, "type", "veth", "peer", "name", inside, "netns", self.name)
        run("ip", "addr", "add", f"{prefix[0]}.{base + 1}/30", "dev", self.outside)
        run("ip", "link", "set", self.outside, "up")
        self.inside("ip", "addr", "add", f"{self.address}/30", "dev", inside)
        self.inside("ip", "link", "set", inside, "up")
        self.inside("ip", "link", "set", "lo", "up")

    def inside(self, *command):
        run("ip", "netns", "exec", self.name, *command)

    def set(self, state):
        run("ip", "link", "set", self.outside, state)

    def close(self):
        subprocess.run(["ip", "link", "del", self.outside], check=False)
        subprocess.run(["ip", "netns", "del", self.name], check=False)


class Nginx:
    """nginx with DAV, in a separate namespace if it has a link, and on a disk of limited size if it has a disk."""

    region = None

    def __init__(self, lab, link=None, disk=None):
        self.lab, self.link = lab, link
        self.folder = lab.folder("nginx")
        self.root = os.path.join(self.folder, "root")
        os.mkdir(self.root)
        self.disk = disk
        if disk:
            run("mount", "-t", "tmpfs", "-o", f"size={disk}", "tmpfs", self.root)
        self.host = link.address if link else "127.0.0.1"
        self.port = lab.port()
        self.url = f"http://{self.host}:{self.port}/tier"
        user = "user root;" if os.getuid() == 0 else ""
        # Receives the bodies of PUT on the small disk, like a server with both on one disk.
        temporary = os.path.join(self.root if disk else self.folder, "arriving")
        paths = "".join(f"{name}_temp_path {self.folder}/{name};" for name in ("proxy", "fastcgi", "uwsgi", "scgi"))
        with open(os.path.join(self.folder, "nginx.conf"), "w") as file:
            file.write(f"""
{user} daemon off; worker_processes 1; pid {self.folder}/pid; error_log {self.folder}/error crit;
events {{ worker_connections 4096; }}
http {{
    access_log off; client_body_temp_path {temporary}; {paths}
    client_max_body_size 64m; keepalive_requests 1000000;
    server {{
        listen {self.host}:{self.port};
        root {self.root};
        location / {{ dav_methods PUT DELETE; create_full_put_path on; }}
    }}
}}
""")
        self.start()

    def start(self):
        command = ["nginx", "-e", f"{self.folder}/error", "-p", self.folder, "-c", f"{self.folder}/nginx.conf"]
        if self.link:
            command = ["ip", "netns", "exec", self.link.name] + command
        self.process = self.lab.start(command, start_new_session=True)
        await_answer(f"http://{self.host}:{self.port}/")

    def signal(self, number):
        """Sends a signal to the master process and its workers."""
        os.killpg(self.process.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    crash = kill

    def read(self, path):
        """The content of an object, or `None`."""
        file = self.root + path
        if not os.path.exists(file):
            return None
        with open(file, "rb") as content:
            return content.read()

    def objects(self):
        """The number of objects in each folder of the tier."""
        base = os.path.join(self.root, "tier", "v2")
        folders = os.listdir(base) if os.path.isdir(base) else []
        return {name: sum(len(files) for _, _, files in os.walk(os.path.join(base, name))) for name in sorted(folders)}

    def clear(self):
        shutil.rmtree(os.path.join(self.root, "tier"), ignore_errors=True)

    def close(self):
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.kill()
        if self.disk:
            run("umount", self.root)
            self.disk = None


class Moto:
    """The S3 server of moto, with an empty bucket. Keeps its objects in memory."""

    region = "us-east-1"

    def __init__(self, lab):
        self.lab = lab
        self.host, self.port = "127.0.0.1", lab.port()
        self.url = f"http://{self.host}:{self.port}/bucket/tier"
        self.start()

    def start(self):
        self.process = self.lab.start(["moto_server", "-H", self.host, "-p", str(self.port)], start_new_session=True,
                                      quiet=True)
        await_answer(f"http://{self.host}:{self.port}/")
        self.make_bucket()

    def make_bucket(self):
        request = urllib.request.Request(f"http://{self.host}:{self.port}/bucket", method="PUT")
        urllib.request.urlopen(request).read()

    def clear(self):
        request = urllib.request.Request(f"http://{self.host}:{self.port}/moto-api/reset", method="POST")
        urllib.request.urlopen(request).read()
        self.make_bucket()

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.kill()


def run(*command):
    subprocess.run(command, check=True)


def await_answer(url):
    """Returns once a server answers, with any status."""
    for _ in range(600):
        try:
            urllib.request.urlopen(url, timeout=5).read()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"no server answers at {url}")
