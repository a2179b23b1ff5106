"""Many machines request one cold URL concurrently."""

from lab import at_once

MACHINES, REQUESTS = 8, 1000


def prove(lab):
    """At most one origin request for each machine."""
    for name, engine in lab.engines():
        # Sets a long deadline for busy systems: after a missed deadline a machine takes another path, without another
        # request.
        machines = lab.machines(MACHINES, engine, deadline=1000)
        for size in (1_000, 300_000):
            lab.origin.reset()
            url = f"{lab.origin.url}/cold-{size}?size={size}&delay=100"
            results = at_once([lambda m=m: m.run([url], width=50, repetitions=REQUESTS) for m in machines])
            counts = lab.origin.counts()
            proof = f"cold URL, {size} bytes, {name}"
            lab.check_loads(proof, results)
            lab.check(proof, 1 <= counts["requests"] <= MACHINES,
                      f"{MACHINES} machines × {REQUESTS} requests: {counts['requests']} origin requests, at most {MACHINES}")
            lab.keep(f"cold/{name}/{size}", counts["requests"])
        for machine in machines:
            machine.ask("drain")
            machine.end()
        # A machine that comes later finds the response.
        late = lab.machines(1, engine, deadline=5000)[0]
        lab.origin.reset()
        result = late.run([url], width=1)
        lab.check(f"cold URL, {name}", result["sources"] == {"tier": 1} and lab.origin.counts()["requests"] == 0,
                  f"a ninth machine asks no origin: {result['sources']}")
        late.end()
