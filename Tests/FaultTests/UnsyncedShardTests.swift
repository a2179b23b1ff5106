import FaultModel
import TestSupport

@Suite("Names of shards after errors", .enabled(if: Laboratory.canBreak, "needs Linux, and no sanitizer"))
struct UnsyncedShardTests {
    @Test("if any opening fails while a commit syncs, a power cut after the next commit loses no body")
    func failedOpening() async throws {
        let mode = ScenarioOptions.Mode.persist(.everything)
        let count = try await openings(mode)
        let points = points(count, atMost: Repetitions.count(16, debug: 5))
        for point in points {
            let laboratory = try Laboratory()
            var options = laboratory.options(mode, FaultPlan(.fail, .open, at: point, error: EMFILE))
            options.isDurable = true
            options.record = laboratory.recordPath
            #expect(try await laboratory.run(options) == .exit(0), "\(laboratory.output)")
            #expect(try missing(ChangeLog(laboratory.recordPath)) == [], "opening \(point): \(laboratory.output)")
        }
        report("\(points.count) of \(count) failed openings before power cuts")
    }

    /// The number of openings of a durable run.
    private func openings(_ mode: ScenarioOptions.Mode) async throws -> UInt64 {
        let laboratory = try Laboratory()
        var options = laboratory.options(mode, FaultPlan(.count, .open))
        options.isDurable = true
        #expect(try await laboratory.run(options) == .exit(0), "\(laboratory.output)")
        let last = laboratory.output.split(separator: " ").last?.trimmingCharacters(in: .newlines)
        return try #require(last.flatMap { UInt64($0) })
    }

    /// The bodies of acknowledged entries that a power cut right after the acknowledgement would lose.
    private func missing(_ log: ChangeLog) -> [String] {
        var missing: [String] = []
        var disk = Disk()
        var acknowledged = 0
        for change in log.changes {
            disk.apply(change)
            guard case .note = change else { continue }
            acknowledged += 1
            let expectation = PossibleAnswers(.everything, acknowledged: acknowledged)
            let remains = disk.remains(.everything)
            for (key, versions) in expectation.versions {
                // No other step may have begun after the last step.
                guard versions.count == 1, let version = versions.first ?? nil, version.byteCount > 0 else { continue }
                let digits = ContentDigest(of: version.bytes).description
                let bytes = remains["blobs/\(digits.prefix(2))/\(digits.dropFirst(2))"] ?? nil
                if bytes != Array(version.bytes) { missing.append("\(key) after step \(acknowledged)") }
            }
        }
        return missing
    }
}
