import CacheStore

/// An upper bound for the hits of every cache, even of one with knowledge of future requests. A gap is the interval
/// between two consecutive requests. A request can be a hit only if the cache has kept the body since its previous
/// request. The cost of the hit is the length of the body times the number of gaps between these requests. The budget
/// of a cache is its size times the number of all gaps.
///
/// The bound relaxes two rules. The cache may keep fractions of a body, and it must respect its limit only on average.
/// The optimum under these rules is a fractional knapsack, which takes the cheapest gains first. With bodies of
/// different lengths the true optimum is NP-hard to find. It never exceeds this bound (PFOO-L in Berger, Beckmann and
/// Harchol-Balter, *Practical Bounds on Optimal Caching with Variable Object Sizes*, SIGMETRICS 2018). The knapsacks
/// for hits and for bytes differ, so a single cache cannot reach both bounds. Uses 24 bytes for each possible hit, and
/// a table row for each key.
package struct ClairvoyantBound: Sendable {
    /// A request that could be a hit.
    private struct Reuse {
        /// The bytes to keep, multiplied by the number of gaps.
        let cost: Double
        let byteCount: Int64
    }

    private struct LastRequest {
        var number: Int64
        /// The length of the shortest body so far: a cache that keeps any body of the key keeps at least these bytes.
        var byteCount: Int64
    }

    private let maxEntryBytes: Int64
    private var last: [CacheKey: LastRequest] = [:]
    private var reuses: [Reuse] = []
    private var requestCount: Int64 = 0
    /// The bytes of the first body of every key.
    package private(set) var uniqueBytes: Int64 = 0

    package var keyCount: Int { last.count }

    /// - Parameter maxEntryBytes: The cache does not store larger bodies.
    package init(maxEntryBytes: Int64) {
        self.maxEntryBytes = maxEntryBytes
    }

    package mutating func add(_ request: TraceRequest) {
        defer { requestCount += 1 }
        guard var before = last[request.key] else {
            last[request.key] = LastRequest(number: requestCount, byteCount: request.byteCount)
            uniqueBytes &+= request.byteCount
            return
        }
        if before.byteCount <= maxEntryBytes {
            let cost = Double(before.byteCount) * Double(requestCount - before.number)
            reuses.append(Reuse(cost: cost, byteCount: request.byteCount))
        }
        before.number = requestCount
        before.byteCount = min(before.byteCount, request.byteCount)
        last[request.key] = before
    }

    /// Returns the largest possible number of hits in a cache of this size.
    package func hits(maxBytes: Int64) -> Double {
        most(maxBytes) { _ in 1 }
    }

    /// Returns the largest possible number of bytes from hits.
    package func hitBytes(maxBytes: Int64) -> Double {
        most(maxBytes) { Double($0.byteCount) }
    }

    private func most(_ maxBytes: Int64, of gain: (Reuse) -> Double) -> Double {
        var room = Double(maxBytes) * Double(max(0, requestCount - 1))
        var sum = 0.0
        let candidates = reuses.map { (cost: $0.cost, gain: gain($0)) }.filter { $0.gain > 0 }
        for candidate in candidates.sorted(by: { $0.cost / $0.gain < $1.cost / $1.gain }) {
            guard candidate.cost <= room else { return sum + candidate.gain * room / candidate.cost }
            room -= candidate.cost
            sum += candidate.gain
        }
        return sum
    }
}
