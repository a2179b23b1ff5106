import CacheModels
import TestSupport

@Suite("ObservedResource and LeasedResource: concurrent use", .timeLimit(.minutes(5))) struct ModelConcurrencyTests {
    private static func isInOrder<Value>(_ states: [ResourceState<Value>]) -> Bool {
        zip(states, states.dropFirst()).allSatisfy { $0.mayBecome($1) }
    }

    @Test("On many threads, no lease is lost, no load keeps running, readers see one order", .requirement("E7"))
    func leases() async {
        let seed = SeededGenerator()
        let script = LoadScript()
        let readers = await use(script, seed)
        var logs: [[ResourceState<Int>]] = []
        for reader in readers { logs.append(await reader.reduce(into: []) { $0.append($1.map(\.value)) }) }
        #expect(Set(logs.map(\.count)).count == 1, "\(seed)")
        #expect(logs.allSatisfy { $0 == logs[0] }, "\(seed)")
        #expect(logs.allSatisfy(Self.isInOrder), "\(seed)")
        let begun = zip(logs[0], logs[0].dropFirst()).count { !$0.isLoading && $1.isLoading }
        // A load released before it begins is not counted.
        #expect(script.begun.count <= begun, "\(seed)")
    }

    /// A cancelled task holds a lock of the runtime while its stream ends. Sending an event to the stream needs that
    /// lock to wake the task.
    @Test("Cancelling readers during events causes no deadlock", .requirement("E4"))
    func cancelledReaders() async throws {
        let fixture = try LoaderFixture(transport: HeldOrigin().transport)
        let (loader, request) = (fixture.loader, ResourceRequest("https://example.com/a"))
        let resource = LeasedResource(request, loader: loader)
        for _ in 0..<200 {
            let (states, events) = (resource.states(), loader.events(for: request))
            let activity = loader.activity(offDelay: .zero)
            let readers = [
                Task { for await _ in states {} }, Task { for await _ in events {} },
                Task { for await _ in activity {} },
            ]
            await withTaskGroup { group in
                group.addTask {
                    resource.acquire()
                    loader.cancelAll()
                    try? resource.release()
                }
                for reader in readers { group.addTask { reader.cancel() } }
            }
            for reader in readers { await reader.value }
        }
    }

    /// The states of a resource that 8 tasks have used, after its release.
    private func use(
        _ script: LoadScript, _ seed: SeededGenerator
    ) async -> [AsyncStream<ResourceState<Loaded<Int>>>] {
        let resource = LeasedResource(ResourceRequest("a"), begin: { script.begin($0) })
        let readers = (0..<4).map { _ in resource.states() }
        // Ends some of the loads.
        let origin = Task {
            var generator = seed
            var ended = 0
            while !Task.isCancelled {
                if script.begun.count > ended {
                    if Bool.random(using: &generator) { script.tell(.cached(ended), of: ended) }
                    if Bool.random(using: &generator) { script.tell(.failed(.offline), of: ended) }
                    ended += 1
                }
                await Task.yield()
            }
        }
        await withTaskGroup { group in
            for user in 0..<8 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed.seed &+ UInt64(user))
                    for _ in 0..<200 {
                        resource.acquire()
                        for _ in 0..<Int.random(in: 0..<4, using: &generator) { await Task.yield() }
                        #expect(resource.leases >= 1, "\(seed)")
                        #expect(throws: Never.self) { try resource.release() }
                    }
                }
            }
        }
        origin.cancel()
        await origin.value
        #expect(resource.leases == 0, "\(seed)")
        #expect(!resource.state.isLoading, "\(seed)")
        #expect(throws: LeaseError.notAcquired, "\(seed)") { try resource.release() }
        return readers
    }

    @Test("After concurrent binds, reloads and releases, the last bound request counts", .requirement("I4", "I5"))
    func binds() async throws {
        let seed = SeededGenerator()
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(200, [.cacheControl: "max-age=60"], request.path ?? "")
        }
        let log = await bind(fixture.loader, seed).reduce(into: []) { $0.append($1) }
        #expect(Self.isInOrder(log), "\(seed)")
        #expect(log.last?.value?.value == Data("/last".utf8), "\(seed)")
    }

    /// The states of a model that 6 tasks have used, after its release.
    private func bind(_ loader: ResourceLoader, _ seed: SeededGenerator) async -> AsyncStream<
        ResourceState<Loaded<Data>>
    > {
        let model = await ObservedResource(loader: loader)
        let log = await model.states()
        await withTaskGroup { group in
            for user in 0..<6 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed.seed &+ UInt64(user))
                    for _ in 0..<60 {
                        let path = Int.random(in: 0..<5, using: &generator)
                        switch Int.random(in: 0..<10, using: &generator) {
                        case ..<5: await model.bind(ResourceRequest("https://example.com/\(path)"))
                        case ..<6: await model.bind(nil)
                        case ..<7: await model.reload(policy: .remoteOnly)
                        case ..<8: await model.cancel()
                        case ..<9: for await state in await model.states() where !state.isLoading { break }
                        default: _ = try? await loader.remove("https://example.com/\(path)")
                        }
                    }
                }
            }
        }
        await model.bind("https://example.com/last")
        await model.settled()
        #expect(await model.value == Data("/last".utf8), "\(seed)")
        // All readers except one have left, and the count shows it.
        await eventually { await model.observers <= 1 }
        return log
    }
}
