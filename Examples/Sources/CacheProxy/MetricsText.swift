internal import CacheLoader
internal import CacheStore
internal import CacheTier

/// The counts of the proxy in the text format of Prometheus, version 0.0.4.
struct MetricsText {
    private(set) var text = ""

    init(_ cache: CacheCounters, _ store: StoreStatistics, _ tier: SharedTier?) {
        add(
            "cacheproxy_requests_total", "Answers to clients.", "result",
            [
                ("hit", cache.hits), ("stale", cache.staleAnswers), ("revalidated", cache.revalidations),
                ("tier", cache.tierHits), ("miss", cache.misses), ("error", cache.errors),
            ])
        add(
            "cacheproxy_body_bytes_total", "Bytes of bodies.", "source",
            [("disk", cache.diskBytes), ("network", cache.networkBytes)])
        add("cacheproxy_upstream_requests_total", "Requests to the tier or the origin.", cache.originRequests)
        add("cacheproxy_store_entries", "Stored responses.", store.entries, isGauge: true)
        add("cacheproxy_store_bytes", "Bytes of their bodies on disk.", store.physicalBytes, isGauge: true)
        guard let tier else { return }
        let counts = tier.statistics
        add(
            "cacheproxy_tier_requests_total", "Requests to the shared tier.", "result",
            [
                ("hit", counts.hits), ("miss", counts.misses), ("timeout", counts.timeouts), ("error", counts.errors),
                ("skipped", counts.skipped),
            ])
        add(
            "cacheproxy_tier_writes_total", "Responses for the shared tier.", "result",
            [("written", counts.writes), ("failed", counts.failedWrites), ("dropped", counts.droppedWrites)])
        let refused = counts.refused
        add(
            "cacheproxy_tier_refused_total", "Refused objects of the shared tier.", "reason",
            [
                ("malformed", refused.malformed), ("unknownKey", refused.unknownKey), ("forged", refused.forged),
                ("replayed", refused.replayed), ("damagedBody", refused.damagedBodies),
                ("fromFuture", refused.fromFuture),
            ])
        add("cacheproxy_tier_validations_total", "Stale responses that the origin confirmed.", counts.validations)
        add("cacheproxy_tier_stale_answers_total", "Stale responses for a failed origin.", counts.staleAnswers)
        add("cacheproxy_tier_removals_total", "Removals by unsafe requests.", counts.removals)
        add(
            "cacheproxy_tier_pending_removals", "Removals that the tier has not accepted yet.",
            tier.pendingRemovalCount, isGauge: true)
        add(
            "cacheproxy_tier_breaker_open", "1 while the tier is not asked.", tier.isBreakerOpen ? 1 : 0, isGauge: true)
    }

    private mutating func add(_ name: String, _ help: String, _ value: some BinaryInteger, isGauge: Bool = false) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(isGauge ? "gauge" : "counter")\n\(name) \(value)\n"
    }

    private mutating func add(
        _ name: String, _ help: String, _ label: String, _ values: [(String, some BinaryInteger)]
    ) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) counter\n"
        for (value, count) in values { text += "\(name){\(label)=\"\(value)\"} \(count)\n" }
    }
}
