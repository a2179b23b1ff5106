import ArgumentParser
import CacheReports
import CacheStore

/// Shows the totals of the store, and the shares of its bytes.
struct Stats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the store in numbers, and where its bytes are.",
        discussion: """
            First the totals: the same as sql 'SELECT * FROM cache_stats', which takes constant time. Then how the \
            requests of programs were answered: each request once, a 404 of the origin as its answer, and no validation that \
            the cache makes by itself. The hit ratio is the share of fresh and stale answers from the store, and of answers from a shared tier. Then the shares by host, content \
            type and last use, for which all entries are read; bodies that are shared count for each.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
        let totals = try totals()
        if let format = report.format {
            var members = totals.members
            members.append(("answers", try answers().json))
            for share in try await shares() {
                members.append(("by_\(share.property.rawValue)", .array(share.groups.map(\.json))))
            }
            return try format.write(.object(members))
        }
        // Printed before any other query: in a damaged index the totals may be the only readable rows.
        try StandardOutput.write(line: text(of: totals))
        for picture in [try answers().text, try await shares().text] where !picture.isEmpty {
            try StandardOutput.write(line: "\n\(picture)")
        }
    }

    private func totals() throws -> SQLRows.Row {
        let result = try store.query("SELECT * FROM cache_stats")
        guard let row = result.first else { throw Failure(.broken, "\(store.path): the index has no totals") }
        return row
    }

    private func answers() throws -> RequestCounts {
        RequestCounts(try store.query(RequestCounts.query))
    }

    private func shares() async throws -> [ByteShares] {
        let parts = try await store.withExistingStore(isReadOnly: true) { try $0.byteGroups() }
        return ByteShares.Property.allCases.map { ByteShares($0, of: parts) }
    }

    private func text(of totals: SQLRows.Row) -> String {
        zip(totals.columns, totals.values).map { name, value in
            // The view counts validated answers as hits, too.
            let label = name == "hits" ? "answers from store" : name.replacing("_", with: " ").inOneLine
            let isSize = name.hasSuffix("bytes")
            var text = value.displayText.inOneLine
            if isSize, case .integer(let byteCount) = value { text = byteCount.asByteCount }
            return "\(label.leftAligned(in: 19)) \(text)"
        }.joined(separator: "\n")
    }
}
