"""Kills a writer at each of its writes to the engine: before, within and after the write."""

import time

from lab import Behind
from relay import KillingRelay


def urls(lab):
    """Bodies inside the record and in separate objects, with one variant and with several."""
    base = lab.origin.url
    return [f"{base}/small?size=500", f"{base}/large?size=200000", f"{base}/small-vary?size=700&vary=1#de",
            f"{base}/small-vary?size=700&vary=1#en", f"{base}/large-vary?size=150000&vary=1#de",
            f"{base}/large-vary?size=150000&vary=1#en"]


def prove(lab):
    """No reader gets a wrong byte or a mix of two versions, and each kill leaves the tier usable."""
    for name, engine in lab.engines():
        prove_on(lab, name, engine, isEmpty=False)
        if not lab.options.quick:
            prove_on(lab, name, engine, isEmpty=True)
    lab.origin.get("/_version?1")


def prove_on(lab, name, engine, isEmpty):
    """Kills writers of another version than the one that the tier has, or of the first one of an empty tier."""
    proof = f"killed writer, {name}, {'empty tier' if isEmpty else 'over another version'}"
    relay = KillingRelay(engine.host, engine.port)
    through = Behind(engine, relay.port)
    keeper = lab.machines(1, engine, deadline=5000, removalDelay=0)[0]
    versions = iter(range(1, 1000))

    def prepare():
        """All records become unusable or absent, so that the next writer writes every object, over the old one if there is one."""
        lab.origin.get(f"/_version?{next(versions)}")
        if isEmpty:
            engine.clear()
        else:
            keeper.ask("removeAll")
            # A response that is requested in the second of a removal, or in the next one, counts as removed.
            time.sleep(2.1)

    lab.origin.get(f"/_version?{next(versions)}")
    fill(lab, engine)
    prepare()
    writes = write(lab, through, relay)
    lab.check(proof, writes >= 9, f"an unharmed writer makes {writes} writes")
    numbers = range(1, writes + 1, 4 if lab.options.quick else 1)
    results, kills, hits = [], 0, 0
    for number in numbers:
        for moment in ("before", "within", "after"):
            prepare()
            kills += write(lab, through, relay, number, moment) is None
            # Two sequential readers: the first fills in the rest, the second finds everything.
            for _ in range(2):
                result = fill(lab, engine)
                results.append(result)
            hits += results[-1]["sources"].get("tier", 0) == len(urls(lab))
    lab.check_loads(proof, results)
    # The last write's response may reach the writer just before the signal, which then finds it at its end. A writer also makes
    # one write less if it knows the object of a URL from the variant before.
    attempts = len(numbers) * 3
    lab.check(proof, attempts - 3 <= kills <= attempts and hits == attempts,
              f"{kills} kills at {len(numbers)} writes; after {hits} of them the second reader finds all responses")
    lab.keep(f"kills/{name}/{'empty' if isEmpty else 'filled'}",
             {"writes": writes, "kills": kills, "loads": sum(r["count"] for r in results)})
    keeper.end()


def fill(lab, engine):
    """Loads everything on a new machine, and waits for its writes."""
    machine = lab.machines(1, engine, deadline=5000, removalDelay=0)[0]
    result = machine.run(urls(lab), width=1)
    machine.ask("drain")
    machine.end()
    return result


def write(lab, engine, relay, number=0, moment=""):
    """Loads everything on a machine that may be killed. Returns the number of its writes, or `None` after a kill."""
    machine = lab.machines(1, engine, deadline=5000, removalDelay=0)[0]
    relay.plan(machine.process.pid if number else None, number, moment)
    try:
        machine.run(urls(lab), width=1)
        machine.ask("drain")
        return relay.count
    except (RuntimeError, OSError):
        return None
    finally:
        try:
            machine.end()
        except OSError:
            machine.process.wait()
