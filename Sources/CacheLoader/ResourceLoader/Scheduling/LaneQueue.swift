internal import HeapModule

/// The loads that wait for their turn in one lane: first in, first out, among hosts with room for another transfer.
/// Except for ``unblockAll()``, an operation takes logarithmic time in the number of waiting loads, on average.
package struct LaneQueue {
    private struct Place: Comparable {
        let number: UInt64
        /// Distinguishes the place from a former one of the same load with the same number.
        let entry: UInt64
        let id: UInt64
        let host: String

        static func < (first: Place, second: Place) -> Bool { first.number < second.number }
    }

    private var places: [UInt64: Place] = [:]
    /// Contains at least the first n places of each host that may start n transfers.
    private var ready = Heap<Place>()
    /// Places whose host had no room when their turn came, by host.
    private var blocked: [String: Heap<Place>] = [:]
    /// The number of places in the heaps whose load has left the queue. Such places are skipped when their turn comes.
    private var abandonedCount = 0
    private var lastEntry: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { places.isEmpty }

    package var count: Int { places.count }

    /// The number of places in memory, including those whose load has left the queue. At most twice ``count``.
    package var heldCount: Int { places.count + abandonedCount }

    /// No other load in the queue has `number`. It is usually greater than all earlier numbers; a load that comes back
    /// has its former number.
    package mutating func append(_ id: UInt64, host: String, number: UInt64) {
        lastEntry += 1
        let place = Place(number: number, entry: lastEntry, id: id, host: host)
        places[id] = place
        ready.insert(place)
    }

    package mutating func remove(_ id: UInt64) {
        guard let place = places.removeValue(forKey: id) else { return }
        abandonedCount += 1
        // The removed place may be the one for which its host has room.
        unblock(place.host)
        forgetAbandoned()
    }

    /// Removes and returns the first load whose host may start another transfer, if there is one.
    package mutating func next(where mayBegin: (_ host: String) -> Bool) -> UInt64? {
        while let place = ready.popMin() {
            guard isHeld(place) else { continue }
            if mayBegin(place.host) {
                places[place.id] = nil
                forgetAbandoned()
                return place.id
            }
            blocked[place.host, default: Heap()].insert(place)
        }
        return nil
    }

    /// Makes the first blocked place of a host ready, because the host may have room for one more transfer.
    package mutating func unblock(_ host: String) {
        while let place = blocked[host]?.popMin() {
            guard isHeld(place) else { continue }
            ready.insert(place)
            return
        }
        blocked[host] = nil
    }

    /// Makes all places ready, because all hosts may have room.
    package mutating func unblockAll() {
        ready = Heap(places.values)
        blocked = [:]
        abandonedCount = 0
    }

    /// Returns whether a place, which has left its heap, still belongs to a load.
    private mutating func isHeld(_ place: Place) -> Bool {
        if places[place.id] == place { return true }
        abandonedCount -= 1
        return false
    }

    private mutating func forgetAbandoned() {
        if abandonedCount > places.count { unblockAll() }
    }
}
