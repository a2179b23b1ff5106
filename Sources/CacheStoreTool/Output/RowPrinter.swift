import CacheStore

/// Prints the rows of a query while the query runs.
struct RowPrinter {
    /// Runs a query: calls its argument with each row until that returns `false`, and returns the column names.
    typealias Query = ((SQLRows.Row) -> Bool) throws -> [String]

    private static let chunkByteCount = 65_536
    private static let longestPause = Duration.milliseconds(50)

    private var encoder: any RowEncoder
    private let limit: Int?
    private let output = OutputQueue()
    private var rowCount = 0
    private var lastWrite: ContinuousClock.Instant?
    /// Whether the query has more rows than the limit.
    private(set) var isTruncated = false

    /// - Parameter limit: The most rows, or `nil` for all.
    init(_ encoder: any RowEncoder, limit: Int?) {
        self.encoder = encoder
        self.limit = limit
    }

    /// - Throws: The error of the query. Rows before the error may be printed.
    mutating func print(_ query: Query) throws {
        var failure: (any Error)?
        do {
            let columns = try query { add($0) }
            if rowCount == 0 { encoder.begin(columns) }
            encoder.end()
            write()
        } catch {
            failure = error
        }
        try output.finish()
        if let failure { throw failure }
    }

    /// Returns whether to continue.
    private mutating func add(_ row: SQLRows.Row) -> Bool {
        isTruncated = rowCount == limit
        if isTruncated { return false }
        if rowCount == 0 { encoder.begin(row.columns) }
        rowCount += 1
        encoder.add(row.values)
        guard !encoder.bytes.isEmpty else { return true }
        // Writes the first line immediately to show that rows exist. Then writes many rows together, but none late.
        let isDue = lastWrite.map { ContinuousClock.now - $0 > Self.longestPause } ?? true
        if isDue || encoder.bytes.count > Self.chunkByteCount { write() }
        return !output.hasFailed
    }

    private mutating func write() {
        output.add(encoder.bytes)
        encoder.bytes = []
        lastWrite = .now
    }
}
