import TestSupport

@Suite("ResourceLoader: random interleavings", .timeLimit(.minutes(30))) struct LoaderInterleavingTests {
    private static let walkLength = 500
    /// The number of steps of each scene; `CACHESTORE_INTERLEAVINGS` sets it.
    private static let steps =
        ProcessInfo.processInfo.environment["CACHESTORE_INTERLEAVINGS"].flatMap { Int($0) } ?? 2_000

    @Test(
        "Two loaders send no unnecessary request, never mix up users, and leave no load waiting",
        .requirement("E1", "E2", "E5", "J2"), arguments: LoaderWalk.Scene.allCases)
    func random(_ scene: LoaderWalk.Scene) async throws {
        var counts: [String: Int] = [:]
        for _ in 0..<max(1, Self.steps / Self.walkLength) {
            let generator = SeededGenerator()
            var walk = try LoaderWalk(scene, generator)
            for _ in 0..<Self.walkLength where walk.fault == nil { try await walk.step() }
            try await walk.end()
            counts.merge(walk.counts, uniquingKeysWith: +)
            #expect(walk.fault == nil, "\(generator)")
        }
        let names = ["load", "answer", "cancel", "prefetch", "network", "disk", "memory", "failed"]
        let others = scene == .plain ? [] : ["remove", "redirected", "pause"]
        for name in names + others { #expect(counts[name, default: 0] > Self.steps / 500, "\(counts)") }
    }
}
