"""A Ceph cluster as the engine of the tier: one monitor, one OSD with BlueStore on a sparse file, and one RGW."""

import datetime
import hashlib
import hmac
import os
import re
import shutil
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request
import uuid

from engines import await_answer

PACKAGES = "radosgw ceph-mon ceph-osd ceph-common"
PROGRAMS = ("radosgw", "radosgw-admin", "ceph-mon", "ceph-osd", "ceph", "ceph-authtool", "monmaptool")
# Those of Machine.swift.
ACCESS_KEY, SECRET = "AKIDEXAMPLE", "of the lab"


def missing():
    """The reason why this system cannot run Ceph, or `None`."""
    absent = [program for program in PROGRAMS if not shutil.which(program)]
    return f"no {', '.join(absent)}: apt-get install --no-install-recommends {PACKAGES}" if absent else None


class Ceph:
    """RGW with a bucket. Pools have one replica, because there is one OSD."""

    region = "us-east-1"

    def __init__(self, lab):
        self.lab = lab
        self.folder = lab.folder("ceph")
        self.host, self.port = "127.0.0.1", lab.port()
        self.address = f"http://{self.host}:{self.port}"
        self.url = f"{self.address}/bucket/tier"
        self.daemons = {}
        self.conf = os.path.join(self.folder, "ceph.conf")
        self.make()
        self.start()
        self.send("PUT", "/bucket")
        # RGW creates the pools of the objects with the first object, which takes seconds.
        self.send("PUT", "/bucket/first")
        self.send("DELETE", "/bucket/first")

    def make(self):
        """Makes an empty cluster with one user."""
        monitor, cluster = f"[v2:{self.host}:{self.lab.port()}]", str(uuid.uuid4())
        with open(self.conf, "w") as file:
            file.write(f"""
[global]
fsid = {cluster}
mon host = {monitor}
public addr = {self.host}
keyring = {self.folder}/keyring
run dir = {self.folder}
log file = {self.folder}/$name.log
mon data = {self.folder}/mon
osd data = {self.folder}/osd
osd objectstore = bluestore
bluestore block size = {16 << 30}
# The smallest size that an OSD accepts.
osd memory target = {896 << 20}
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
mon allow pool size one = true
rgw data = {self.folder}
rgw frontends = beast endpoint={self.host}:{self.port}
debug rgw = 0
""")
        for name in ("mon", "osd"):
            os.mkdir(os.path.join(self.folder, name))
        keys, monmap = os.path.join(self.folder, "keyring"), os.path.join(self.folder, "monmap")
        self.tool("ceph-authtool", "-C", keys, "-g", "-n", "mon.", "--cap", "mon", "allow *")
        self.tool("ceph-authtool", keys, "-g", "-n", "client.admin", "--cap", "mon", "allow *", "--cap", "osd", "allow *")
        self.tool("ceph-authtool", keys, "-g", "-n", "osd.0", "--cap", "mon", "allow profile osd", "--cap", "osd", "allow *")
        self.tool("monmaptool", "--create", "--fsid", cluster, "--addv", "a", monitor, monmap)
        self.tool("ceph-mon", "-c", self.conf, "--mkfs", "-i", "a", "--monmap", monmap, "--keyring", keys)
        self.start_daemon("monitor", "ceph-mon", "-i", "a")
        disk = str(uuid.uuid4())
        self.tool("ceph", "-c", self.conf, "--connect-timeout", "60", "osd", "create", disk)
        self.tool("ceph", "-c", self.conf, "auth", "import", "-i", keys)
        self.tool("ceph-osd", "-c", self.conf, "-i", "0", "--mkfs", "--osd-uuid", disk)
        self.start_daemon("osd", "ceph-osd", "-i", "0")
        self.tool("radosgw-admin", "-c", self.conf, "user", "create", "--uid", "lab", "--display-name", "lab",
                  "--access-key", ACCESS_KEY, "--secret-key", SECRET)

    def tool(self, *command):
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180)
        if result.returncode:
            raise RuntimeError(f"{command}: {result.stdout}")

    def start_daemon(self, name, *command):
        """Starts a process of the cluster unless it is running."""
        process = self.daemons.get(name)
        if process is None or process.poll() is not None:
            self.daemons[name] = self.lab.start([*command, "-f", "-c", self.conf], start_new_session=True)

    def start(self):
        """Starts all stopped processes."""
        self.start_daemon("monitor", "ceph-mon", "-i", "a")
        self.start_daemon("osd", "ceph-osd", "-i", "0")
        self.start_daemon("rgw", "radosgw", "-n", "client.admin")
        await_answer(self.address)

    def signal(self, number):
        """Sends a signal to RGW."""
        os.killpg(self.daemons["rgw"].pid, number)

    def kill(self):
        """Kills RGW alone."""
        self.end("rgw")

    def crash(self):
        """Kills all processes of the cluster."""
        self.end("rgw", "osd", "monitor")

    def end(self, *names):
        processes = [self.daemons[name] for name in names if name in self.daemons]
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        for process in processes:
            process.wait()

    def send(self, method, path):
        """Sends a signed request without a body (Signature Version 4), and returns the body of the response."""
        time = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(b"").hexdigest()
        scope = f"{time[:8]}/{self.region}/s3/aws4_request"
        names = "host;x-amz-content-sha256;x-amz-date"
        canonical = "\n".join([method, path, "", f"host:{self.host}:{self.port}", f"x-amz-content-sha256:{digest}",
                               f"x-amz-date:{time}", "", names, digest])
        text = "\n".join(["AWS4-HMAC-SHA256", time, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = b"AWS4" + SECRET.encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        proof = hmac.new(key, text.encode(), "sha256").hexdigest()
        request = urllib.request.Request(f"{self.address}{path}", method=method, headers={
            "x-amz-content-sha256": digest, "x-amz-date": time,
            "Authorization": f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope}, SignedHeaders={names}, Signature={proof}"})
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.read()

    def read(self, path):
        """The content of an object, or `None`."""
        try:
            return self.send("GET", path)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def names(self):
        """The names of at most 1,000 objects of the bucket."""
        return re.findall("<Key>(.*?)</Key>", self.send("GET", "/bucket").decode())

    def clear(self):
        while names := self.names():
            for name in names:
                self.send("DELETE", "/bucket/" + urllib.parse.quote(name))

    def close(self):
        self.crash()
