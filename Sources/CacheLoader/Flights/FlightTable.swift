/// Who waits for what. Pure: each method says what its owner has to do once it has let go of the lock.
///
/// A flight is one load that several callers share. The first to ask for a key starts it, those who come while it is under
/// way join it, and when the last of them leaves it is stopped. `Work` is what can be stopped.
package struct FlightTable<Key: Hashable, Waiter, Work> {
    /// Names a waiter.
    package typealias Ticket = UInt64

    private struct Flight {
        let number: UInt64
        let work: Work
        /// In the order of their coming.
        var waiters: [(ticket: Ticket, waiter: Waiter)]
    }

    private var flights: [Key: Flight] = [:]
    private var lastNumber: UInt64 = 0
    private var lastTicket: Ticket = 0
    /// How many flights have landed.
    package private(set) var landings: UInt64 = 0

    package init() {}

    /// A name for a waiter that is about to come.
    package mutating func ticket() -> Ticket {
        lastTicket += 1
        return lastTicket
    }

    /// A caller waits for `key` from now on. `start` is called with the number of a new flight if there is none.
    package mutating func join(_ key: Key, _ ticket: Ticket, _ waiter: Waiter, start: (UInt64) -> Work) {
        guard flights[key] == nil else {
            flights[key]?.waiters.append((ticket, waiter))
            return
        }
        lastNumber += 1
        flights[key] = Flight(number: lastNumber, work: start(lastNumber), waiters: [(ticket, waiter)])
    }

    /// A flight has landed. Returns its waiters, in the order of their coming; none if it had been stopped.
    package mutating func land(_ key: Key, _ number: UInt64) -> [Waiter] {
        landings += 1
        guard flights[key]?.number == number else { return [] }
        return flights.removeValue(forKey: key)?.waiters.map(\.waiter) ?? []
    }

    /// A caller of `key` does not want to wait any longer.
    ///
    /// - Returns: The waiter to tell, if it has not been told yet, and what to stop, if it was the last.
    package mutating func leave(_ key: Key, _ ticket: Ticket) -> (waiter: Waiter?, stop: Work?) {
        guard let index = flights[key]?.waiters.firstIndex(where: { $0.ticket == ticket }),
            let waiter = flights[key]?.waiters.remove(at: index).waiter
        else {
            return (nil, nil)
        }
        guard let flight = flights[key], flight.waiters.isEmpty else { return (waiter, nil) }
        flights[key] = nil
        return (waiter, flight.work)
    }
}
