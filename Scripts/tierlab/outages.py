"""The tier fails under load: killed, stopped, without its link, on a full disk."""

import os
import signal
import threading
import time

from lab import at_once, percentile

DEADLINE, ORIGIN = 50, 40
MACHINES, WIDTH, PAUSE = 4, 3, 40
# One RGW and one OSD on two cores are slower than nginx. All times are longer in proportion.
SCALES = {"nginx": 1, "ceph": 5}


def killed(engine):
    engine.kill()
    return engine.start


def stopped(engine):
    engine.signal(signal.SIGSTOP)
    return lambda: engine.signal(signal.SIGCONT)


def unlinked(engine):
    engine.link.set("down")
    return lambda: engine.link.set("up")


def full(engine):
    path = os.path.join(engine.root, "ballast")
    with open(path, "wb", buffering=0) as file:
        try:
            while file.write(bytes(65_536)):
                pass
        except OSError:
            pass
    return lambda: os.remove(path)


FAULTS = {
    "nginx": {"SIGKILL": killed, "SIGSTOP": stopped, "link down": unlinked, "full disk": full},
    "ceph": {"SIGKILL": killed, "SIGSTOP": stopped},
}


def prove(lab):
    """No load fails, 99 % of the heads take at most the origin's time and the deadline, and the hits come back."""
    for kind in lab.options.engine:
        for fault, make in FAULTS.get(kind, {}).items():
            if fault == "SIGKILL" or not lab.options.quick:
                engine = lab.nginx(link=True, disk="128m") if kind == "nginx" else lab.ceph()
                measure(lab, f"{kind}, {fault}", engine, make, SCALES[kind])
                engine.close()


def measure(lab, name, engine, fault, scale):
    deadline, delay, pause = DEADLINE * scale, ORIGIN * scale, PAUSE * scale
    before, during, after = (2, 3, 8) if lab.options.quick else (4, 6, 20)
    seconds = before + during + after
    machines = lab.machines(MACHINES, engine, deadline=deadline, removalDelay=1000)
    alone = lab.machines(1)[0]
    # The tier has four of five URLs. Every tenth body is a separate object.
    count = int(seconds * 1000 / (delay + pause) * WIDTH * 1.5)
    base = f"{lab.origin.url}/{name.replace(', ', '-').replace(' ', '-')}"

    def urls(kind, first, last):
        return [f"{base}-{kind}-{i}?delay={delay}&size={100_000 if i % 10 == 0 else 2_000}" for i in range(first, last)]

    known, warm = urls("known", 0, count), urls("warm", 0, 300 if lab.options.quick else 1000 // scale)
    writer = lab.writer(engine)
    # Works in parts, because the machine drops writes when more than 1,000 are waiting.
    for i in range(0, len(known + warm), 500):
        writer.run((known + warm)[i:i + 500], width=32)
        writer.ask("drain")
    writer.end()
    orders = [[url for i in range(count) for url in ([known[i]] if i % 5 else urls(machine, i, i + 1))]
              for machine in range(MACHINES)]
    # A concurrent machine without a tier measures the speed of the origin on this system.
    own = urls("alone", 0, count)
    # Warms up until the tier answers, because a machine that starts on a busy system may have opened its breaker.
    load = {"width": WIDTH, "pause": pause, "hasSamples": True}
    for i in range(0, len(warm), 50):
        begun = at_once([lambda m=m: m.run(warm[i:i + 50], **load) for m in machines + [alone]])[:-1]
        if all(r["sources"].get("tier", 0) > 30 for r in begun):
            break
    load["seconds"] = seconds
    times = {}

    def script():
        time.sleep(before)
        repair = fault(engine)
        times["fault"] = time.time() * 1000
        time.sleep(during)
        repair()
        times["repair"] = time.time() * 1000

    thread = threading.Thread(target=script)
    thread.start()
    results = at_once([lambda m=m, order=order: m.run(order, **load) for m, order in zip(machines, orders)]
                      + [lambda: alone.run(own, **load)])
    thread.join()
    *tiered, origin = results
    proof = f"tier on {name}"
    lab.check_loads(proof, tiered)
    samples = [(sample, source) for r in tiered for sample, source in zip(r["samples"], r["sampleSources"])]
    phases = {"before": [], "during": [], "after": []}
    for (began, head, _), source in samples:
        phase = "before" if began < times["fault"] else "during" if began < times["repair"] else "after"
        phases[phase].append((head / 1000, source, began))
    own_p99 = percentile([head / 1000 for _, head, _ in origin["samples"]], 0.99)
    # The noise of two cores: a quarter of the sum, and half of it where few requests are measured.
    bound = (own_p99 + deadline) * (1.5 if lab.options.quick else 1.25)
    for phase, loads in phases.items():
        p99 = percentile([head for head, _, _ in loads], 0.99)
        hits = share(loads)
        lab.keep(f"outage/{name}/{phase}", {"loads": len(loads), "p99": round(p99, 1), "p50": round(percentile(
            [head for head, _, _ in loads], 0.5), 1), "tier": round(hits, 3), "origin p99": round(own_p99, 1)})
        lab.check(proof, p99 <= bound, f"{phase}: p99 {p99:.0f} ms of {len(loads)} heads, at most {bound:.0f} "
                  f"(origin alone {own_p99:.0f}, deadline {deadline}); the tier answered {100 * hits:.0f} %")
    # Counts as recovered from the first second in which the tier answers 30 %.
    back = next((second for second in range(after) if share(
        [load for load in phases["after"] if second <= (load[2] - times["repair"]) / 1000 < second + 1]) >= 0.3), None)
    lab.keep(f"outage/{name}/back", back)
    lab.check(proof, back is not None, f"the tier answers again in second {back} after the repair, without a restart")
    reports = [m.ask("report")["tier"] for m in machines]
    lab.keep(f"outage/{name}/counts", {key: sum(r[key] for r in reports) for key in
                                       ("hits", "misses", "timeouts", "errors", "skipped", "failedWrites", "droppedWrites")})
    for machine in machines + [alone]:
        machine.end()


def share(loads):
    """The share of loads that the tier answered."""
    return sum(source == "tier" for _, source, _ in loads) / max(1, len(loads))
