"""Many keys: the tier has the documented number of objects, and the memory of a machine stays flat."""

import time


def prove(lab):
    """One record and one object for each key; the memory after all keys is that after a fifth of them."""
    count = lab.options.keys
    engine = lab.nginx()
    # The machine answers in place of the origin, so that only the tier is measured.
    machine = lab.machines(1, engine, deadline=5000, maxEntries=10_000, isOriginInside=True)[0]
    steps, memory, start = 20, [], time.monotonic()
    url = "http://origin.test/*?size=200&delay=5"
    for step in range(steps):
        first, last = step * count // steps, (step + 1) * count // steps
        # Works in parts, because the machine drops writes when more than 32 MiB are waiting.
        for part in range(first, last, 1000):
            result = machine.run(width=16, range={"url": url, "from": part, "to": min(part + 1000, last)})
            machine.ask("drain")
            if result["failed"] or result["wrong"]:
                lab.check_loads(f"{count} keys", [result])
        memory.append(machine.ask("report")["residentBytes"])
    seconds = time.monotonic() - start
    report = machine.ask("report")["tier"]
    proof = f"{count} keys"
    objects = engine.objects()
    dropped = report["droppedWrites"] + report["failedWrites"]
    lab.check(proof, objects == {"resp": count - dropped, "key": count - dropped},
              f"the tier has {objects}; {dropped} writes dropped; {seconds:.0f} s")
    early, late = memory[steps // 5 - 1], memory[-1]
    lab.check(proof, late <= early * 1.1 + (4 << 20),
              f"{late / 2**20:.0f} MiB in memory at the end, {early / 2**20:.0f} after a fifth")
    lab.keep(f"keys/{count}", {"objects": objects, "dropped": dropped, "seconds": round(seconds),
                               "memory": memory})
    machine.end()
