import CacheReports
import CacheStore
import Foundation

extension SimulationReport {
    /// The trace on one line, and a table of the results.
    var text: String {
        let table = TextTable(
            [
                .init("policy"), .init("hits", .right), .init("hit ratio", .right), .init("byte ratio", .right),
                .init("rows", .right), .init("pages", .right), .init("time", .right),
            ], limit: Terminal.ofOutput?.width)
        var rows = policies.map { policy in
            let result = policy.result
            return [
                policy.name, "\(result.hits)", Self.percent(result.hitRatio), Self.percent(result.byteHitRatio),
                "\(result.rowsWritten)", "\(result.pagesWritten)", String(format: "%.2f s", policy.seconds),
            ]
        }
        rows.append([
            "clairvoyant bound", "", Self.percent(clairvoyantBound.hitRatio),
            Self.percent(clairvoyantBound.byteHitRatio), "", "", "",
        ])
        return """
            \(requests.of("request", "requests")) for \(keys.of("key", "keys")) with \(uniqueBytes.asByteCount)
            limit \(maxBytes.asByteCount), for a body \(maxEntryBytes.asByteCount)
            \(leftOutText)\(table.text(of: rows))
            """
    }

    /// A line about the omitted requests. Empty without any.
    private var leftOutText: String {
        let parts = [
            leftOut.malformedLines > 0 ? leftOut.malformedLines.of("malformed line", "malformed lines") : nil,
            leftOut.uncacheable > 0
                ? leftOut.uncacheable.of("uncacheable request", "uncacheable requests") : nil,
            leftOut.lost > 0 ? leftOut.lost.of("lost record", "lost records") : nil,
        ].compactMap(\.self)
        return parts.isEmpty ? "" : "left out: \(parts.joined(separator: ", "))\n"
    }

    private static func percent(_ ratio: Double) -> String { String(format: "%.2f %%", 100 * ratio) }
}
