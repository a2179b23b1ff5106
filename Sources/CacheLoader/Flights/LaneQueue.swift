internal import HeapModule

/// What waits for its turn in one lane: first come, first served, among hosts that may begin another transfer.
///
/// Whatever happens costs no more than the logarithm of how many wait, on average.
package struct LaneQueue {
    /// A place in the queue.
    private struct Place: Comparable {
        let number: UInt64
        let flight: UInt64
        let host: String

        static func < (first: Place, second: Place) -> Bool { first.number < second.number }
    }

    /// The place of each flight.
    private var places: [UInt64: Place] = [:]
    /// Of a host that may begin a number of transfers, at least as many are here as its first.
    private var ready = Heap<Place>()
    /// Those whose host had enough under way when their turn came.
    private var blocked: [String: Heap<Place>] = [:]
    /// Places in the heaps that no flight has any more; they are passed over when their turn comes.
    private var abandonedCount = 0

    package init() {}

    package var isEmpty: Bool { places.isEmpty }

    /// How many wait.
    package var count: Int { places.count }

    /// Places that take memory, those included that no flight has any more: no more than twice those that one has.
    package var heldCount: Int { places.count + abandonedCount }

    /// - Parameter number: Greater than that of any other place.
    package mutating func append(_ flight: UInt64, host: String, number: UInt64) {
        let place = Place(number: number, flight: flight, host: host)
        places[flight] = place
        ready.insert(place)
    }

    package mutating func remove(_ flight: UInt64) {
        guard let place = places.removeValue(forKey: flight) else { return }
        abandonedCount += 1
        // It may have been the one that its host has room for.
        unblock(place.host)
        forgetAbandoned()
    }

    /// The first whose host may begin another, which leaves the queue.
    package mutating func next(where mayBegin: (_ host: String) -> Bool) -> UInt64? {
        while let place = ready.popMin() {
            guard isHeld(place) else { continue }
            if mayBegin(place.host) {
                places[place.flight] = nil
                forgetAbandoned()
                return place.flight
            }
            blocked[place.host, default: Heap()].insert(place)
        }
        return nil
    }

    /// A host may have room for one more.
    package mutating func unblock(_ host: String) {
        while let place = blocked[host]?.popMin() {
            guard isHeld(place) else { continue }
            ready.insert(place)
            return
        }
        blocked[host] = nil
    }

    /// All hosts may have room for more.
    package mutating func unblockAll() {
        ready = Heap(places.values)
        blocked = [:]
        abandonedCount = 0
    }

    /// Whether a place, which has left its heap, is that of a flight.
    private mutating func isHeld(_ place: Place) -> Bool {
        if places[place.flight] == place { return true }
        abandonedCount -= 1
        return false
    }

    private mutating func forgetAbandoned() {
        if abandonedCount > places.count { unblockAll() }
    }
}
