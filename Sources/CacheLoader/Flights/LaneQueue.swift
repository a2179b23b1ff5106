internal import HeapModule

/// What waits for its turn in one lane: first come, first served, among hosts that may begin another transfer.
struct LaneQueue {
    /// A place in the queue.
    private struct Place: Comparable {
        let number: UInt64
        let flight: UInt64
        let host: String

        static func < (first: Place, second: Place) -> Bool { first.number < second.number }
    }

    /// The place of each flight. A place that a flight does not have any more is passed over when its turn comes.
    private var places: [UInt64: UInt64] = [:]
    private var ready = Heap<Place>()
    /// Those whose host had enough under way when their turn came.
    private var blocked: [String: Heap<Place>] = [:]

    var isEmpty: Bool { places.isEmpty }

    /// - Parameter number: Greater than that of any other place.
    mutating func append(_ flight: UInt64, host: String, number: UInt64) {
        places[flight] = number
        ready.insert(Place(number: number, flight: flight, host: host))
    }

    mutating func remove(_ flight: UInt64) {
        places[flight] = nil
        guard places.isEmpty else { return }
        // Nothing is left to pass over.
        self = LaneQueue()
    }

    /// The first whose host may begin another, which leaves the queue.
    mutating func next(where mayBegin: (_ host: String) -> Bool) -> UInt64? {
        while let place = ready.popMin() {
            guard places[place.flight] == place.number else { continue }
            if mayBegin(place.host) {
                remove(place.flight)
                return place.flight
            }
            blocked[place.host, default: Heap()].insert(place)
        }
        return nil
    }

    /// A host may have room for another.
    mutating func unblock(_ host: String) {
        while let place = blocked[host]?.popMin() {
            guard places[place.flight] == place.number else { continue }
            ready.insert(place)
            return
        }
        blocked[host] = nil
    }

    /// All hosts may have room for more.
    mutating func unblockAll() {
        for place in blocked.values.flatMap(\.unordered) { ready.insert(place) }
        blocked = [:]
    }
}
