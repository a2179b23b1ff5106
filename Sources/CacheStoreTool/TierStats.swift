import ArgumentParser
import CacheReports
import CacheTier
import Foundation

extension Tier {
    /// Shows speed, clock and last removals of a tier.
    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show how fast the tier answers, its clock, and its last removals.",
            discussion: """
                Ten reads, and no write: 'tier check' shows whether the tier can be written. Hits and misses are counts of \
                each process: 'get --verbose' and 'prefetch' print theirs. The engine counts its objects.
                """)

        @Option(
            help: ArgumentHelp("Also the last removal of a host, with its port if URLs name one.", valueName: "host"))
        var host: String?

        @OptionGroup var options: TierURL
        @OptionGroup var partition: TierPartition
        @OptionGroup var deadline: TierDeadline
        @OptionGroup var report: ReportOptions

        func run() async throws {
            let scopes: [TierScope] = [.partition] + (host.map { [.host($0)] } ?? [])
            let survey = try await options.tier(partition, deadline).survey(scopes)
            let result = Result(survey, host: host)
            try report.write(result.json, text: result.lines.joined(separator: "\n"))
        }
    }
}

/// The numbers of a survey, as text and as JSON.
private struct Result {
    private let requests: Int
    private let firstMilliseconds: Double
    private let medianMilliseconds: Double
    private let longestMilliseconds: Double
    private let engineTime: String
    private let engineSecondsAhead: Int64
    private let lastRemoval: String
    private let host: String?
    private let lastRemovalOfHost: String?

    init(_ survey: TierSurvey, host: String?) {
        // A first request that connects tells nothing about the others.
        let times = survey.times.map { ($0 / .microseconds(10)).rounded() / 100 }
        let later = times.dropFirst().sorted()
        requests = times.count
        firstMilliseconds = times[0]
        medianMilliseconds = later[later.count / 2]
        longestMilliseconds = later[later.count - 1]
        engineTime = "\(survey.engineTime)"
        engineSecondsAhead = survey.secondsAhead
        let removals = survey.removals.map(Self.text)
        lastRemoval = removals[0]
        self.host = host
        lastRemovalOfHost = host == nil ? nil : removals[1]
    }

    private static func text(_ removal: TierSurvey.Removal) -> String {
        switch removal {
        case .never: "never"
        case .at(let time): "\(time)"
        case .unreadable: "unreadable with this CACHESTORE_TIER_KEY"
        }
    }

    /// The numbers without those of an absent host.
    var json: JSON {
        .object(omittingNulls: [
            "requests": .integer(requests),
            "first_milliseconds": .number(firstMilliseconds),
            "median_milliseconds": .number(medianMilliseconds),
            "longest_milliseconds": .number(longestMilliseconds),
            "engine_time": .text(engineTime),
            "engine_seconds_ahead": .integer(engineSecondsAhead),
            "last_removal": .text(lastRemoval),
            "host": .optional(host),
            "last_removal_of_host": .optional(lastRemovalOfHost),
        ])
    }

    var lines: [String] {
        let direction = engineSecondsAhead < 0 ? "behind" : "ahead of"
        let rows = [
            (
                "read",
                "\(medianMilliseconds) ms in the median, \(longestMilliseconds) ms at most, \(firstMilliseconds) ms with the connection"
            ),
            ("clock", "\(engineTime), \(engineSecondsAhead.magnitude) s \(direction) this machine"),
            ("last removal", lastRemoval),
        ]
        let ofHost = lastRemovalOfHost.map { [("last removal of \((host ?? "").inOneLine)", $0)] } ?? []
        return (rows + ofHost).map { name, text in "\(name.leftAligned(in: 15)) \(text)" }
    }
}
