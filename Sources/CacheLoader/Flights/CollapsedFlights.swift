internal import CacheStore
internal import HTTPCaching
internal import Synchronization

/// Requests that wait for the answer to one like them, instead of being sent, too (RFC 9111 §4).
///
/// The first request for a key goes to the origin in a task of its own. Those that come before the head of its response
/// wait; once it is there they decide again, with what is then stored or arriving. It is not for the flight to say whether
/// they may have the same response: whoever may not goes to the origin alone.
final class CollapsedFlights: Sendable {
    /// What may share a flight.
    struct Key: Hashable {
        let key: CacheKey
        let policy: CachePolicy
    }

    /// How a request left its flight.
    enum Landing: Sendable {
        /// It was the one that was sent, and this is its response.
        case answered(CachedResponse)
        /// Another was sent, and its head is there. As long as this is held, its body keeps arriving.
        case decideAgain(CachedResponse)
        /// The origin could not be asked.
        case failed(LoadError)
    }

    private struct Waiter {
        let ticket: UInt64
        let continuation: CheckedContinuation<Landing, Never>
    }

    /// Flights by key. Guards only the table; continuations are resumed outside.
    private let flights = Mutex(FlightTable<Key, Waiter, Task<Void, Never>>())

    /// How many flights have landed. What was decided when it was as it is now has seen all that they have brought.
    var landings: UInt64 { flights.withLock { $0.landings } }

    /// Waits for the flight of a key, which `load` is if there is none yet.
    ///
    /// A cancellation of the calling task is told at once; the flight goes on for the others.
    func join(
        _ key: Key, load: @escaping @Sendable () async throws(LoadError) -> CachedResponse
    ) async -> Landing {
        let ticket = flights.withLock { $0.ticket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(ticket: ticket, continuation: continuation)
                flights.withLock { flights in
                    flights.join(key, ticket, waiter) { number in
                        Task { await self.fly(key, number, sentBy: ticket, load) }
                    }
                }
                // A cancellation before this point found nobody to tell.
                if Task.isCancelled { leave(key, ticket) }
            }
        } onCancel: {
            leave(key, ticket)
        }
    }

    private func leave(_ key: Key, _ ticket: UInt64) {
        let (waiter, stop) = flights.withLock { $0.leave(key, ticket) }
        stop?.cancel()
        waiter?.continuation.resume(returning: .failed(.cancelled))
    }

    private func fly(
        _ key: Key, _ number: UInt64, sentBy ticket: UInt64,
        _ load: @Sendable () async throws(LoadError) -> CachedResponse
    ) async {
        let result = await Self.result(of: load)
        let waiters = flights.withLock { $0.land(key, number) }
        switch result {
        case .success(let response):
            // If whoever was sent has left, the response is nobody's.
            for waiter in waiters {
                let isSent = waiter.ticket == ticket
                waiter.continuation.resume(returning: isSent ? .answered(response) : .decideAgain(response))
            }
        case .failure(let error):
            for waiter in waiters { waiter.continuation.resume(returning: .failed(error)) }
        }
    }

    private static func result(
        of load: @Sendable () async throws(LoadError) -> CachedResponse
    ) async -> Result<CachedResponse, LoadError> {
        do {
            return .success(try await load())
        } catch {
            return .failure(error)
        }
    }
}
