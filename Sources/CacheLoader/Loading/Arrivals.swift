internal import CacheStore
internal import HTTPCaching
internal import HTTPTypes
internal import Synchronization

/// A response that is going to be stored, and whose body is still arriving.
struct ArrivingResponse: Sendable {
    /// The response as it is going to be stored.
    let response: StoredResponse
    /// Its body.
    let body: SharedBody
    /// The length of that, if it was announced.
    let length: Int64?
    /// Where the removals from the store stood when it was asked for; `nil` if the store could not be asked.
    let generation: StoreGeneration?
}

/// Responses whose bodies are still arriving, by what they are going to be stored under: who comes now need not ask for
/// them once more.
final class Arrivals: Sendable {
    private struct Table {
        var responses: [CacheKey: [UInt64: ArrivingResponse]] = [:]
        var lastNumber: UInt64 = 0
        /// How many have gone, of keys told apart by some bits of their hashes.
        var departures = [UInt32](repeating: 0, count: 256)

        static func place(of key: CacheKey) -> Int { key.hashValue & 255 }
    }

    /// Guards the table.
    private let table = Mutex(Table())

    /// A number for a response that is about to come.
    func number() -> UInt64 {
        table.withLock { table in
            table.lastNumber += 1
            return table.lastNumber
        }
    }

    func add(_ response: ArrivingResponse, for key: CacheKey, _ number: UInt64) {
        table.withLock { $0.responses[key, default: [:]][number] = response }
    }

    func remove(_ key: CacheKey, _ number: UInt64) {
        let removed = table.withLock { table in
            let removed = table.responses[key]?.removeValue(forKey: number)
            if table.responses[key]?.isEmpty ?? false { table.responses[key] = nil }
            table.departures[Table.place(of: key)] &+= 1
            return removed
        }
        // What it holds is let go outside the lock.
        _ = consume removed
    }

    /// How many have arrived for a key, or never will. Who has found nothing in the store, and then nothing here, has
    /// overlooked nothing if it is still what it was before.
    func departures(for key: CacheKey) -> UInt32 {
        table.withLock { $0.departures[Table.place(of: key)] }
    }

    /// What is arriving for a key, the latest first.
    func responses(for key: CacheKey) -> [ArrivingResponse] {
        table.withLock { $0.responses[key]?.sorted { $0.key > $1.key }.map(\.value) ?? [] }
    }
}
