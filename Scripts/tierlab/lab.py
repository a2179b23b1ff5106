"""The shared parts of the proofs: a folder, processes that end with the lab, the origin, and the machines of a fleet."""

import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import urllib.request

from ceph import Ceph
from engines import Link, Moto, Nginx, await_answer

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINES = {"nginx": "nginx", "moto": "S3 (moto)", "ceph": "S3 (Ceph)"}


class Lab:
    def __init__(self, program, options):
        self.program, self.options = program, options
        self.base = tempfile.mkdtemp(prefix="tier-lab.")
        # The workers of nginx may run as another user.
        os.chmod(self.base, 0o755)
        self.children, self.closing, self.problems, self.figures = [], [], [], {}
        self.check_count = 0
        self.count = 0
        self.origin = self.open(Origin(self))

    def folder(self, name):
        self.count += 1
        path = os.path.join(self.base, f"{name}-{self.count}")
        os.mkdir(path)
        return path

    def port(self):
        # Below the ports that the system chooses.
        return random.randrange(20_000, 32_000)

    def start(self, command, quiet=False, **options):
        log = open(os.devnull if quiet else os.path.join(self.base, "errors"), "a")
        options.setdefault("stdout", log)
        process = subprocess.Popen(command, stderr=log, **options)
        self.children.append(process)
        return process

    def open(self, thing):
        """Returns a thing that the lab closes at its end."""
        self.closing.append(thing)
        return thing

    def close(self):
        for thing in reversed(self.closing):
            thing.close()
        for process in self.children:
            if process.poll() is None:
                process.kill()
            process.wait()
        if self.problems and os.path.getsize(os.path.join(self.base, "errors")):
            with open(os.path.join(self.base, "errors")) as file:
                print("".join(file.readlines()[-20:]), file=sys.stderr)
        shutil.rmtree(self.base, ignore_errors=True)

    def nginx(self, link=False, disk=None):
        return self.open(Nginx(self, self.open(Link()) if link else None, disk))

    def moto(self):
        return self.open(Moto(self))

    def ceph(self):
        return self.open(Ceph(self))

    def engines(self, but=()):
        """Starts and closes each engine that the proofs compare. Yields its name and the engine."""
        for kind in self.options.engine:
            if kind not in but:
                engine = getattr(self, kind)()
                yield ENGINES[kind], engine
                engine.close()

    def machines(self, count, engine=None, **setup):
        return [Machine(self, engine, **setup) for _ in range(count)]

    def writer(self, engine):
        """Returns a machine that fills the tier, and answers in place of the origin."""
        return Machine(self, engine, deadline=5000, isOriginInside=True)

    def delayed(self, engine, milliseconds):
        """Returns an engine behind a relay that delays it."""
        port = self.port()
        relay = self.start([sys.executable, os.path.join(HERE, "relay.py"), str(port), engine.host, str(engine.port),
                            str(milliseconds)])
        await_answer(f"http://127.0.0.1:{port}/")
        return Behind(engine, port, relay)

    def check(self, proof, isTrue, text):
        """Records a result."""
        self.check_count += 1
        if not isTrue:
            self.problems.append(f"{proof}: {text}")
        print(f"{'ok    ' if isTrue else 'FAILED'}  {proof}: {text}", flush=True)

    def check_loads(self, proof, results):
        """No load failed, and none returned other bytes than the origin's."""
        failed, wrong = sum(r["failed"] for r in results), sum(r["wrong"] for r in results)
        reasons = [reason for r in results for reason in r["reasons"]][:3]
        self.check(proof, not failed and not wrong,
                   f"{sum(r['count'] for r in results)} loads, {failed} failed, {wrong} with wrong bytes {reasons or ''}")

    def keep(self, name, value):
        """Keeps a figure for the report."""
        self.figures[name] = value


class Behind:
    """An engine behind a relay."""

    def __init__(self, engine, port, process=None):
        self.region, self.process = engine.region, process
        self.url = engine.url.replace(f"{engine.host}:{engine.port}", f"127.0.0.1:{port}")

    def close(self):
        self.process.kill()
        self.process.wait()


class Origin:
    def __init__(self, lab):
        port = lab.port()
        self.url = f"http://127.0.0.1:{port}"
        self.process = lab.start([sys.executable, os.path.join(HERE, "origin.py"), str(port)])
        await_answer(f"{self.url}/_counts")

    def get(self, path):
        return urllib.request.urlopen(self.url + path).read()

    def counts(self):
        return json.loads(self.get("/_counts"))

    def reset(self):
        self.get("/_reset")

    def close(self):
        self.process.kill()


class Machine:
    """A process with its own store, and with a tier if it has an engine."""

    def __init__(self, lab, engine=None, **setup):
        self.lab = lab
        setup["store"] = lab.folder("store")
        if engine:
            setup["tier"] = engine.url
            setup["region"] = engine.region
        command = [lab.program, json.dumps(setup)]
        self.process = lab.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.store = setup["store"]
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"a machine ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, kind, **order):
        self.process.stdin.write(json.dumps({kind: {"_0": order} if order else {}}) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def run(self, urls=None, width=8, **load):
        return self.ask("run", urls=urls, width=width, **load)

    def end(self):
        """Ends the process, unless it was killed, and deletes its store."""
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.store, ignore_errors=True)


def at_once(calls):
    """Returns the results of calls that run at the same time."""
    with concurrent.futures.ThreadPoolExecutor(max(1, len(calls))) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0
