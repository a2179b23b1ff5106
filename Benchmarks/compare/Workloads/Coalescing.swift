import CacheLoader
import CacheStore
import Foundation
import Samples

/// Measures one load for a thousand waiting tasks, in nanoseconds per task.
struct Coalescing {
    let place: Place

    private static let waiters = 1000

    func plan() -> [PlannedWork] {
        [PlannedWork("coalesced load, 1 000 waiters, per waiter", make: load)]
    }

    private func load() throws -> Workload {
        let transport = WaitingTransport(expected: Self.waiters)
        let loader = try ResourceLoader(
            store: ResponseStore.unlimited(place.fresh("coalescing")), transport: transport)
        return Workload(
            operations: 10,
            sides: [
                Workload.Side("ours") { range in
                    for number in range {
                        let url = Sample.url(number)
                        try await Self.inTasks {
                            transport.ask()
                            _ = try await loader.load(url)
                        }
                    }
                }.eachCounting(Self.waiters),
                Workload.Side("tasks that do nothing") { range in
                    for _ in range { try await Self.inTasks { await Task.yield() } }
                }.eachCounting(Self.waiters),
            ])
    }

    private static func inTasks(_ work: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<waiters { group.addTask { try await work() } }
            try await group.waitForAll()
        }
    }
}
