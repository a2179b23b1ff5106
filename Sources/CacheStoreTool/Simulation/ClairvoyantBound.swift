import CacheStore

/// What no cache can exceed, even one that knows the future.
///
/// A request can be a hit only if its body has been kept since the request before it: its length in bytes, for as many gaps
/// between requests as lie between the two. A cache has its size times the number of gaps to give away. The best use of that,
/// if it may keep fractions and need not hold the limit at every moment but only on average, is the fractional knapsack:
/// the cheapest gains first. With bodies of different lengths the true optimum is NP-hard to find; it is not above this
/// (PFOO-L in Berger, Beckmann and Harchol-Balter, *Practical Bounds on Optimal Caching with Variable Object Sizes*,
/// SIGMETRICS 2018). For hits and for bytes the knapsack is filled differently, so no one cache reaches both.
///
/// Takes 24 bytes for each request that could be a hit, and a row of a table for each key.
package struct ClairvoyantBound: Sendable {
    /// A request that could be a hit.
    private struct Reuse {
        /// Bytes to keep, times the gaps to keep them for.
        let cost: Double
        let byteCount: Int64
    }

    private struct LastRequest {
        var number: Int64
        /// The shortest body that was seen by then. A cache that keeps what it has stored first keeps no less.
        var byteCount: Int64
    }

    private let maxEntryBytes: Int64
    private var last: [CacheKey: LastRequest] = [:]
    private var reuses: [Reuse] = []
    private var requestCount: Int64 = 0
    /// Bytes of all keys, as first requested.
    package private(set) var uniqueBytes: Int64 = 0

    package var keyCount: Int { last.count }

    /// - Parameter maxEntryBytes: Larger bodies are not stored.
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

    /// The most requests that could be hits in a cache of so many bytes.
    package func hits(maxBytes: Int64) -> Double {
        most(maxBytes) { _ in 1 }
    }

    /// The most bytes that hits could answer.
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
