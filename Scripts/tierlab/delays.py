"""The tier is near or far: a load takes at most the deadline longer than without a tier."""

import random
import statistics

from lab import at_once

ORIGIN = 60
WIDTH = 8


def prove(lab):
    """For each delay of the tier and each hit ratio, machines with and without the tier take turns on the same work."""
    delays = (2, 200) if lab.options.quick else (0, 5, 20, 45, 100, 200)
    rounds, batch = (4, 40) if lab.options.quick else (10, 64)
    engine = lab.nginx()
    writer = lab.writer(engine)
    for delay in delays:
        for ratio in (0, 0.5, 1):
            name = f"{delay}-{ratio}"
            urls = [f"{lab.origin.url}/far-{name}-{i}?delay={ORIGIN}&size=2000" for i in range((rounds + 1) * batch)]
            known = [url for i, url in enumerate(urls) if i % 2 < 2 * ratio]
            if known:
                writer.run(known, width=16)
                writer.ask("drain")
            random.Random(1).shuffle(urls)
            # The timers of the relay are no finer than a millisecond.
            far = lab.delayed(engine, delay) if delay else engine
            tiered, alone = lab.machines(1, far)[0], lab.machines(1)[0]
            batches = [urls[i:i + batch] for i in range(0, len(urls), batch)]
            # The first batch opens connections.
            first = mean(tiered.run(batches[0], width=WIDTH, hasSamples=True)) / mean(
                alone.run(batches[0], width=WIDTH, hasSamples=True))
            ratios, results = [], []
            for i, part in enumerate(batches[1:]):
                # Runs both concurrently, so that the noise of the system affects both.
                pair = at_once([lambda: tiered.run(part, width=WIDTH, hasSamples=True),
                                lambda: alone.run(part, width=WIDTH, hasSamples=True)])
                ratios.append(mean(pair[0]) / mean(pair[1]))
                results += pair
            counts = tiered.ask("report")["tier"]
            proof = f"tier at {delay} ms, hit ratio {ratio}"
            lab.check_loads(proof, results)
            middle = statistics.median(ratios)
            # A request asks the tier first, for three reads at most, and stops at the deadline or at the breaker.
            # The requests of a machine come in waves of WIDTH, and each of them takes a millisecond of the two cores.
            bound = 1.05 + (min(3 * delay, 100) + WIDTH) / ORIGIN
            lab.check(proof, middle <= bound, f"{middle:.3f} of the time without a tier (first batch {first:.3f}; "
                      f"{counts['hits']} hits, {counts['misses']} misses, {counts['timeouts']} timeouts, {counts['skipped']} skipped)")
            lab.keep(f"delay/{delay}/{ratio}", {"ratio": round(middle, 3), "first": round(first, 3), **{
                key: counts[key] for key in ("hits", "misses", "timeouts", "skipped")}})
            tiered.end()
            alone.end()
            if delay:
                far.close()
    writer.end()


def mean(result):
    return statistics.mean(whole for _, _, whole in result["samples"])
