import ArgumentParser
package import CacheReports
import CacheStore
package import Foundation

/// Shows the activity of other processes in a store.
struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what goes on in a store while others use it.",
        discussion: """
            A line now and then: entries and their bytes, requests answered from the store (hits) and by the origin \
            (misses), each with its growth per second. With --json or --jsonl an object a line, which also counts stale and \
            revalidated answers and errors. Only reads: the store is as if nobody watched. Programs write hits down \
            from time to time, not each at once. Ctrl-C ends it.
            """)

    @Option(help: ArgumentHelp("From one line to the next; 0 for without a pause.", valueName: "seconds"))
    var interval = 1.0

    @Option(help: ArgumentHelp("End after as many lines.", valueName: "number"))
    var count: Int?

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if !(interval >= 0 && interval <= 86_400) {
            throw ValidationError("--interval needs a number of seconds from 0 to 86400")
        }
        if let count, count < 1 { throw ValidationError("--count needs a number, 1 or more") }
    }

    func run() async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var turn = start
        var earlier: WatchedCounters?
        var number = 0
        while true {
            let counters = WatchedCounters(time: clock.now - start, try store.query(WatchedCounters.query))
            try write(WatchLine(counters, since: earlier, date: Date()), number)
            earlier = counters
            number += 1
            if number == count { return }
            // Follows the clock, because reading takes time. Does not catch up on missed updates.
            turn = max(turn.advanced(by: .seconds(interval)), clock.now)
            try await clock.sleep(until: turn)
        }
    }

    private func write(_ line: WatchLine, _ number: Int) throws {
        if report.format != nil { return try ReportFormat.jsonl.write(line.json) }
        // Repeats the header once per screen of a small terminal.
        if number % 20 == 0 { try StandardOutput.write(line: WatchLine.header) }
        try StandardOutput.write(line: line.text)
    }
}

/// The counters of a store at one time, by name.
package struct WatchedCounters: Equatable, Sendable {
    /// The time of reading. Only differences between times are meaningful.
    let time: Duration
    let values: [String: Int64]

    package init(time: Duration, _ values: [String: Int64]) {
        self.time = time
        self.values = values
    }

    /// Selects one row with a column for each counter. A single statement reads all values from one snapshot.
    static let query = """
        SELECT
            cache_stats.entries, cache_stats.physical_bytes AS bytes,
            coalesce(sum(cache_requests.hits), 0) AS hits, coalesce(sum(stale), 0) AS stale,
            coalesce(sum(revalidated), 0) AS revalidated, coalesce(sum(tier), 0) AS tier,
            coalesce(sum(misses), 0) AS misses, coalesce(sum(errors), 0) AS errors
        FROM cache_stats LEFT JOIN cache_requests
        """

    /// Reads the result of ``query``.
    init(time: Duration, _ result: SQLRows) {
        let named = zip(result.columns, result.rows.first ?? []).map { ($0, $1.integer ?? 0) }
        self.init(time: time, Dictionary(named) { first, _ in first })
    }

    subscript(name: String) -> Int64 { values[name, default: 0] }

    /// Returns the growth of each counter per second, to a thousandth, or `nil` without elapsed time. Removed entries
    /// and reset counts make the growth negative.
    package func perSecond(since earlier: WatchedCounters) -> [String: Double]? {
        let span = (time - earlier.time) / .seconds(1)
        guard span > 0 else { return nil }
        return Dictionary(
            uniqueKeysWithValues: values.map { name, value in
                let growth = Double(value) - Double(earlier[name])
                return (name, (growth / span * 1000).rounded() / 1000)
            })
    }
}

/// The counters of a store, and their growth since the previous line.
package struct WatchLine {
    private let counters: WatchedCounters
    /// The growth per second, or `nil` for the first line.
    private let perSecond: [String: Double]?
    private let date: Date

    package init(_ counters: WatchedCounters, since earlier: WatchedCounters?, date: Date) {
        self.counters = counters
        self.date = date
        perSecond = earlier.flatMap { counters.perSecond(since: $0) }
    }

    // MARK: Text

    package static var header: String {
        row(time: "UTC", columns.flatMap { [$0, "/s"] })
    }

    package var text: String {
        // Example: 2026-01-31T12:34:56Z
        let time = String(date.formatted(.iso8601).dropFirst(11).prefix(8))
        let cells = Self.columns.flatMap { counter in
            let rate = perSecond?[counter]
            return counter == "bytes"
                ? [counters[counter].asByteCount, rate.map { Self.byteText($0) } ?? "-"]
                : ["\(counters[counter])", rate?.oneDecimal ?? "-"]
        }
        return Self.row(time: time, cells)
    }

    /// The counters that fit into 80 columns.
    private static let columns = ["entries", "bytes", "hits", "misses"]

    /// Returns a line. A cell wider than its column shifts the following cells.
    private static func row(time: String, _ cells: [String]) -> String {
        let widths = [7, 7, 8, 8, 8, 7, 8, 7]
        return zip(cells, widths).reduce(time.leftAligned(in: 8)) { $0 + " " + $1.0.rightAligned(in: $1.1) }
    }

    private static func byteText(_ bytes: Double) -> String {
        let count = Int64(max(-1e18, min(1e18, bytes)))
        return count < 0 ? "-\((-count).asByteCount)" : count.asByteCount
    }

    // MARK: JSON

    package var json: JSON {
        let rates = perSecond.map { rates in JSON.object(rates.map { ($0.key, JSON.number($0.value)) }) }
        var members = counters.values.map { ($0.key, JSON.integer($0.value)) }
        members.append(("time", .text(date.timestamp)))
        members.append(("per_second", rates ?? .null))
        return .object(members)
    }
}
