"""What a fleet gets with the default deadlines: the first machine fills the tier, and a distant tier spares a fast origin."""

URLS, READ = 1000, 300


def prove(lab):
    """The first machine writes every response. A second one, far from the engine, asks the origin for none of them."""
    for name, engine in lab.engines():
        delay = 80 if engine.region else 30
        urls = [f"{lab.origin.url}/fleet-{name[:2]}-{i}?size=2000" for i in range(URLS)]
        first = lab.machines(1, engine)[0]
        lab.check_loads(f"first machine, {name}", [first.run(urls, width=8)])
        first.ask("drain")
        written = first.ask("report")["tier"]["writes"]
        first.end()
        lab.check(f"first machine, {name}", written == URLS, f"{written} of {URLS} responses are in the tier")
        far = lab.delayed(engine, delay)
        second = lab.machines(1, far)[0]
        lab.origin.reset()
        lab.check_loads(f"{name} at {delay} ms", [second.run(urls[:READ], width=4)])
        hits, requests = second.ask("report")["tier"]["hits"], lab.origin.counts()["requests"]
        second.end()
        far.close()
        lab.check(f"{name} at {delay} ms", hits >= READ - 5 and requests == READ - hits,
                  f"{hits} of {READ} from the tier, {requests} requests to the origin, which answers immediately")
        lab.keep(f"fleet/{name}", {"written": written, "hits": hits, "origin": requests})
