"""All processes of an engine are killed while a machine writes, and start again."""

import hashlib
import threading
import time

from lab import Behind
from relay import NotingRelay

KEPT = ("/v2/resp/", "/v2/cas/", "/v2/key/")
# The time of the origin in milliseconds, the simultaneous requests, and the seconds of the load.
DELAY, WIDTH, SECONDS = 300, 16, 4


def prove(lab):
    """Each acknowledged object is still present with the written bytes."""
    # moto keeps its objects in memory.
    for name, engine in lab.engines(but=("moto",)):
        for number in range(1 if lab.options.quick else 3):
            prove_on(lab, name, engine, number)


def prove_on(lab, name, engine, number):
    proof = f"restart {number + 1} of {name}"
    relay = NotingRelay(engine.host, engine.port)
    base = f"http://origin.test/restart-{number}"
    urls = [f"{base}-{i}?delay={DELAY}&size={100_000 if i % 10 == 0 else 2_000}" for i in range(1000)]
    # A missed deadline on a busy system would suspend the writes.
    setup = {"deadline": 30_000, "isOriginInside": True}
    writer = lab.machines(1, Behind(engine, relay.port), removalDelay=1_000_000, **setup)[0]
    first = {"url": f"{base}-first-*?delay={DELAY}&size=10", "from": 0, "to": 500}
    writer.run(width=WIDTH, range=first)
    writer.ask("drain")
    first_count = relay.record_count()
    loads = []
    thread = threading.Thread(target=lambda: loads.append(writer.run(urls, width=WIDTH, seconds=SECONDS + 1)))
    thread.start()
    time.sleep(SECONDS)
    engine.crash()
    thread.join()
    writer.ask("drain")
    writer.end()
    begin = time.monotonic()
    engine.start()
    seconds = time.monotonic() - begin
    lab.check_loads(proof, loads)

    paths = [path for path in relay.acknowledged if any(kind in path for kind in KEPT)]
    records, late_records = relay.record_count(), relay.record_count() - first_count
    absent = wrong = 0
    for path in paths:
        content = engine.read(path)
        absent += content is None
        wrong += content is not None and hashlib.sha256(content).digest() not in relay.digests[path]
    lab.check(proof, late_records >= 10 and not absent and not wrong,
              f"of {len(paths)} acknowledged objects, {absent} are absent and {wrong} have other bytes; "
              f"the engine answers after {seconds:.0f} s")

    reader = lab.machines(1, engine, **setup)[0]
    results = [reader.run(width=WIDTH, range=first), reader.run(urls[:loads[0]["count"]], width=WIDTH)]
    lab.check_loads(proof, results)
    # A write may have reached the disk whose acknowledgement did not reach the machine.
    hits, late_hits = (result["sources"].get("tier", 0) for result in results)
    # The origin answers some loads first where other programs take the cores.
    lab.check(proof, hits >= first_count / 2 and late_hits >= late_records / 2,
              f"the tier answers {hits} loads from {first_count} records that were acknowledged before the load of the crash, "
              f"and {late_hits} from {late_records} of that load")
    lab.keep(f"restarts/{name}/{number}", {
        "objects": len(paths), "records": records, "lateRecords": late_records, "absent": absent, "wrong": wrong,
        "hits": hits, "lateHits": late_hits, "seconds": round(seconds, 1)})
    reader.ask("drain")
    reader.end()
