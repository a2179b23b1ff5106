"""hishel with its storage on S3, and a machine with the tier on the same engine, doing the same work."""

import json
import os
import signal
import statistics
import subprocess
import threading
import time

import traces
from lab import at_once

MACHINES, REQUESTS, HITS = 4, 2000, 300
HERE = os.path.dirname(os.path.abspath(__file__))


class Hishel:
    def __init__(self, lab, engine):
        self.lab, self.engine = lab, engine

    def run(self, urls):
        path = os.path.join(self.lab.folder("peer"), "urls")
        with open(path, "w") as file:
            file.write("\n".join(urls))
        endpoint = f"http://{self.engine.host}:{self.engine.port}"
        process = self.lab.start([self.lab.options.peer, os.path.join(HERE, "hishel_machine.py"), endpoint, path],
                                 stdout=subprocess.PIPE, text=True)
        out, _ = process.communicate()
        return json.loads(out)

    def drain(self):
        pass

    def end(self):
        pass


class Ours:
    """A machine with one request at a time, like hishel's."""

    def __init__(self, lab, engine):
        self.machine = lab.machines(1, engine)[0]

    def run(self, urls):
        result = self.machine.run(urls, width=1, hasSamples=True)
        times = {"store": [], "tier": [], "origin": []}
        for (_, _, whole), source in zip(result["samples"], result["sampleSources"]):
            times.setdefault(source, []).append(whole)
        return {**result, "hits": times["tier"], "store": times["store"], "misses": times["origin"]}

    def drain(self):
        self.machine.ask("drain")

    def end(self):
        self.machine.end()


def prove(lab):
    """The latency of a hit in the engine, the origin's requests of a fleet, and loads without the engine."""
    for name, Side in {"CacheTier": Ours, "hishel": Hishel}.items():
        engine = lab.moto()
        urls = [f"{lab.origin.url}/hit-{i}?size=8000&delay=100" for i in range(HITS)]
        first = Side(lab, engine)
        first.run(urls)
        first.drain()
        first.end()
        second = Side(lab, engine)
        result = second.run(urls)
        hits = result["hits"]
        figures = {"hits": len(hits), "hit median ms": round(statistics.median(hits) / 1000, 2) if hits else None}
        if "store" in result:
            again = second.run(urls)
            figures["own store median ms"] = round(statistics.median(again["store"]) / 1000, 2)
        # Stops the engine, so that connections stay open and silent.
        other = [f"{lab.origin.url}/stopped-{i}?size=8000&delay=100" for i in range(12)]
        os.killpg(engine.process.pid, signal.SIGSTOP)
        start = time.monotonic()
        repair = threading.Timer(20, os.killpg, (engine.process.pid, signal.SIGCONT))
        repair.start()
        stopped = second.run(other)
        figures["stopped: seconds for 12 loads"] = round(time.monotonic() - start, 1)
        figures["stopped: failed"] = stopped["failed"]
        repair.join()
        engine.kill()
        start = time.monotonic()
        dead = second.run([url.replace("stopped", "dead") for url in other])
        figures["dead: seconds for 12 loads"] = round(time.monotonic() - start, 1)
        figures["dead: failed"] = dead["failed"]
        figures["dead: reasons"] = dead["reasons"][:1]
        second.end()
        if lab.options.trace:
            engine = lab.moto()
            keys, sizes = traces.read(lab.options.trace)
            keys = keys[:REQUESTS]
            parts = traces.split(keys)[:MACHINES]
            lab.origin.reset()
            sides = [Side(lab, engine) for _ in parts]
            at_once([lambda s=s, p=p: s.run([f"{lab.origin.url}/{key}?size={sizes[key]}&delay=100" for key in p])
                     for s, p in zip(sides, parts)])
            figures["trace: requests"] = sum(len(part) for part in parts)
            figures["trace: URLs"] = len({key for part in parts for key in part})
            figures["trace: origin requests"] = lab.origin.counts()["requests"]
            for side in sides:
                side.drain()
                side.end()
        lab.keep(f"peer/{name}", figures)
        print(f"        {name}: {json.dumps(figures)}", flush=True)
        if name == "CacheTier":
            lab.check("peer", figures["stopped: failed"] == 0 and figures["dead: failed"] == 0, "no load fails without the engine")
