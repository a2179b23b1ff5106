import TestSupport

extension ToolTests {
    /// Downloads of 20 MiB that end in the middle. The origin answers range requests.
    @Suite("get: interrupted downloads", .serialized)
    struct InterruptedGet {
        private static let mebibyte = 1 << 20
        private static let body = [UInt8](Data.noise(20 * mebibyte, seed: 1))

        let tool: Tool
        let origin: LoopbackOrigin
        private let stops: Stops

        /// The positions in the body at which the next responses stall, in the order of the requests.
        private final class Stops: Sendable {
            /// Guards the positions.
            private let positions = Mutex<[Int]>([])

            func add(_ position: Int) { positions.withLock { $0.append(position) } }

            func next() -> Int? { positions.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        }

        init() async throws {
            tool = try Tool()
            let stops = Stops()
            self.stops = stops
            origin = try await LoopbackOrigin { request in
                let start = request.fields[.range].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
                var reply = OriginReply.ok(Self.body[start...], cacheControl: "max-age=3600", etag: "\"1\"")
                if start > 0 {
                    reply.status = .partialContent
                    reply.fields[.contentRange] = "bytes \(start)-\(Self.body.count - 1)/\(Self.body.count)"
                }
                return stops.next().map { reply.delivered(.stalling(afterBytes: max(0, $0 - start))) } ?? reply
            }
        }

        private var url: String { origin.url("/image.iso") }

        /// The length of the stored part, or 0.
        private func storedByteCount() -> Int {
            let rows = try? ResponseStore.query(
                "SELECT max(byte_size) AS size FROM cache_entries", inStoreAt: URL(filePath: tool.store))
            return Int(rows?.first?["size"]?.integer ?? 0)
        }

        /// Runs the tool until `isDue`, and kills it.
        private func killed(once isDue: () -> Bool) async throws {
            let (tool, url) = (tool, url)
            let running = Task { try await tool("get", url, "-o", "\(tool.directory.path)/out") }
            await eventually(isDue)
            // Cancelling the run sends SIGKILL.
            running.cancel()
            let output = try await running.value
            #expect(output.wasKilled, "\(output.errorText)")
            #expect(output.exitCode == SIGKILL, "\(output.errorText)")
        }

        private func expectComplete() async throws {
            let file = "\(tool.directory.path)/out"
            try await tool("get", url, "-o", file).expect(0, error: nil)
            #expect(try Data(contentsOf: URL(filePath: file)) == Data(Self.body))
            try await tool("check", "--digests").expect(0, error: nil)
        }

        @Test("RFC 9111 §3.4: each kill costs at most 4 MiB; later requests ask only for the rest")
        func kills() async throws {
            let count = Repetitions.count(20, debug: 4)
            let positions = (1...count).map { $0 * 19 * Self.mebibyte / count + 300_000 }
            for (number, position) in positions.enumerated() {
                stops.add(position)
                let least = position - 4 * Self.mebibyte
                try await killed { origin.requestCount > number && storedByteCount() >= least }
            }
            try await expectComplete()
            let starts = origin.requests.map { $0.fields[.range].flatMap { Int($0.dropFirst(6).dropLast()) } }
            #expect(starts.count == positions.count + 1)
            #expect(starts.prefix(1) == [nil])
            for (position, start) in zip(positions, starts.dropFirst()) {
                // A kill within the first 4 MiB may leave nothing.
                #expect((position - 4 * Self.mebibyte...position).contains(start ?? 0), "\(positions) \(starts)")
            }
            let sent = zip(positions + [Self.body.count], starts).reduce(0) { $0 + $1.0 - ($1.1 ?? 0) }
            #expect(sent <= Self.body.count + count * 4 * Self.mebibyte)
            // The whole has replaced the part.
            #expect(try tool.rows("SELECT part_start FROM cache_entries") == [["part_start": nil]])
        }

        @Test(
            "a kill at any moment leaves a sound store, and the next load is complete",
            arguments: 0..<Repetitions.count(4, debug: 2))
        func killedAtAnyMoment(round: Int) async throws {
            var generator = SeededGenerator()
            let moments = (0..<2).map { _ in Int.random(in: 0..<(14 * Self.mebibyte), using: &generator) }.sorted()
            for (number, moment) in moments.enumerated() {
                // The response stalls, so that the process lives until the kill.
                stops.add(Self.body.count - 1)
                try await killed { origin.requestCount > number && storedByteCount() >= moment - Self.mebibyte }
            }
            try await expectComplete()
        }

        @Test(
            "SIGINT and SIGTERM keep the received bytes, print nothing and exit with 128 and the signal",
            arguments: ["INT", "TERM"], [1, 2])
        func signals(signal: String, urlCount: Int) async throws {
            let position = 6 * Self.mebibyte
            stops.add(position)
            if urlCount > 1 { stops.add(position) }
            let mark = "\(tool.directory.path)/mark"
            let script = """
                { while [ ! -e "$2" ]; do sleep 0.02; done; kill -"$3" $$; } >/dev/null 2>&1 </dev/null &
                exec "$0" get "$1" ${4:+"$4"} --store "$STORE"
                """
            let (tool, url) = (tool, url)
            let other = urlCount > 1 ? origin.url("/other.iso") : ""
            async let running = tool.shell(script, url, mark, signal, other)
            await eventually { origin.requestCount == urlCount && storedByteCount() >= position - 4 * Self.mebibyte }
            try Data().write(to: URL(filePath: mark))
            let output = try await running
            #expect(!output.wasKilled, "\(output.errorText)")
            #expect(output.exitCode == (signal == "INT" ? 130 : 143), "\(output.errorText)")
            #expect(output.errorText.isEmpty)
            #expect(output.standardOutput.isEmpty)
            #expect(storedByteCount() >= position - 4 * Self.mebibyte)
            try await expectComplete()
        }
    }
}
