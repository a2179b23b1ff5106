/// Requests in flight to the origin, and the waiting callers of each. Pure: each method returns the action that its
/// owner performs after unlocking. The first caller for a key starts a request, later callers join it, and the last
/// caller to leave stops it. `Work` is a handle that can stop the request.
///
/// The folder `HTTPCache/Coalescing/` has requests in flight, epochs of keys, background validations with their pauses,
/// and tasks with a time limit. The folder may start and cancel tasks that its callers pass. The folder names no type
/// of another folder, sends no request, and reads no entry.
package struct InFlightRequests<Key: Hashable, Waiter, Work> {
    package typealias Ticket = UInt64

    fileprivate struct InFlight {
        let number: UInt64
        let work: Work
        /// In the order of their arrival.
        var waiters: [(ticket: Ticket, waiter: Waiter)]
    }

    private var requests: [Key: InFlight] = [:]
    private var lastNumber: UInt64 = 0
    private var lastTicket: Ticket = 0

    package init() {}

    /// Returns a ticket for a caller that is about to join.
    package mutating func ticket() -> Ticket {
        lastTicket += 1
        return lastTicket
    }

    /// Adds a waiter for `key`. Calls `start` with the number of the new request if none is in flight.
    package mutating func join(_ key: Key, _ ticket: Ticket, _ waiter: Waiter, start: (UInt64) -> Work) {
        guard requests[key] == nil else {
            requests[key]?.waiters.append((ticket, waiter))
            return
        }
        lastNumber += 1
        requests[key] = InFlight(number: lastNumber, work: start(lastNumber), waiters: [(ticket, waiter)])
    }

    /// Ends a request. Returns its waiters in the order of their arrival; none if the request was stopped before.
    package mutating func end(_ key: Key, _ number: UInt64) -> [Waiter] {
        guard requests[key]?.number == number else { return [] }
        return requests.removeValue(forKey: key)?.waiters.map(\.waiter) ?? []
    }

    /// Returns the waiter, unless it has its result already; and the work to stop, if the waiter was the last one.
    package mutating func leave(_ key: Key, _ ticket: Ticket) -> (waiter: Waiter?, stop: Work?) {
        guard let index = requests[key]?.waiters.firstIndex(where: { $0.ticket == ticket }),
            let waiter = requests[key]?.waiters.remove(at: index).waiter
        else {
            return (nil, nil)
        }
        guard let request = requests[key], request.waiters.isEmpty else { return (waiter, nil) }
        requests[key] = nil
        return (waiter, request.work)
    }
}

extension InFlightRequests.InFlight: Sendable where Key: Sendable, Waiter: Sendable, Work: Sendable {}
extension InFlightRequests: Sendable where Key: Sendable, Waiter: Sendable, Work: Sendable {}
