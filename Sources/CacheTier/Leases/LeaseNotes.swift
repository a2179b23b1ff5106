/// The leases of which this process knows that there is nothing to wait for.
struct LeaseNotes: Sendable {
    private let limit = 1000
    /// The uptimes of the notes, by the names of the leases.
    private var times: [String: Duration] = [:]

    mutating func insert(_ name: String, at now: Duration) {
        // Without room, old notes cost a further lease.
        if times.count >= limit { times = [:] }
        times[name] = now
    }

    /// Whether a note of this name is younger than its lifetime.
    mutating func contains(_ name: String, at now: Duration, lifetime: Duration) -> Bool {
        guard let time = times[name] else { return false }
        if now - time < lifetime { return true }
        times[name] = nil
        return false
    }
}
