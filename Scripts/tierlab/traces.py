"""A fleet of ten machines replays a public trace, with and without a tier."""

import json
import os
import random
import time

from chart import bars
from lab import at_once

MACHINES = 10
# The replay compresses a day into minutes, and ten machines onto one, so a lookup in the tier takes many times as long
# as on a dedicated machine. So the origin and the deadline of the tier are slower in proportion.
ORIGIN, DEADLINE = 500, 500


def read(path):
    """The keys of the trace in order, with one size each."""
    sizes, keys = {}, []
    with open(path) as file:
        for line in file:
            _, key, size = line.split()
            sizes.setdefault(key, int(size))
            keys.append(key)
    return keys, sizes


def split(keys, seed=1):
    """The requests of each machine, chosen at random, because the trace does not name users."""
    chance = random.Random(seed)
    parts = [[] for _ in range(MACHINES)]
    for key in keys:
        parts[chance.randrange(MACHINES)].append(key)
    return parts


def prove(lab):
    """The origin gets the requests of one cache instead of ten."""
    keys, sizes = read(lab.options.trace)
    keys = keys[:lab.options.requests]
    parts = split(keys)
    sent = sum(sizes[key] for key in set(keys))
    files = []
    for i, part in enumerate(parts):
        files.append(os.path.join(lab.base, f"trace-{i}"))
        with open(files[-1], "w") as file:
            file.writelines(f"{lab.origin.url}/{key}?size={sizes[key]}&delay={ORIGIN}\n" for key in part)
    unique = len(set(keys))
    found = {}
    for name in ("without a tier", "with a tier"):
        engine = lab.nginx() if name == "with a tier" else None
        lab.origin.reset()
        start = time.monotonic()
        machines = lab.machines(MACHINES, engine, deadline=DEADLINE)
        results = at_once([lambda m=m, f=f: m.run(file=f, width=lab.options.width) for m, f in zip(machines, files)])
        counts = lab.origin.counts()
        lab.check_loads(f"trace {name}", results)
        sources = {}
        for result in results:
            for source, count in result["sources"].items():
                sources[source] = sources.get(source, 0) + count
        reports = [m.ask("report")["tier"] for m in machines]
        found[name] = {"requests": len(keys), "URLs": unique, "bytes of URLs": sent, "origin requests": counts["requests"],
                       "origin bytes": counts["bytes"], "sources": sources, "seconds": round(time.monotonic() - start),
                       "tier": {key: sum(r.get(key, 0) for r in reports) for key in reports[0]}}
        print(f"        {name}: {json.dumps(found[name])}", flush=True)
        for machine in machines:
            machine.end()
        if engine:
            engine.close()
    lab.keep("trace", found)
    one, ten = found["with a tier"], found["without a tier"]
    lab.check("trace", one["origin requests"] < ten["origin requests"],
              f"{one['origin requests']} origin requests with a tier, {ten['origin requests']} without, {unique} URLs")
    if lab.options.chart:
        with open(lab.options.chart, "w") as file:
            file.write(bars(f"Ten machines, {len(keys):,} requests of a trace: requests to the origin, and bytes from it", [
                ("requests", "", [("with a tier", one["origin requests"]), ("without", ten["origin requests"]),
                                  ("one cache for all", unique)]),
                ("bytes", " MB", [("with a tier", one["origin bytes"] / 1e6), ("without", ten["origin bytes"] / 1e6),
                                  ("one cache for all", sent / 1e6)]),
            ]))
