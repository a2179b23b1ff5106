import ArgumentParser
import CacheReports
import CacheTier
import Foundation

extension Tier {
    /// Shows the speed, the clock and the last removals of a tier.
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
            let result = Result(survey: survey, host: host)
            try report.write(result.json, text: result.text)
        }
    }
}

/// The results of a survey, as text and as JSON.
private struct Result {
    let survey: TierSurvey
    let host: String?

    /// The times in milliseconds, in the order of the requests. The first includes connecting, so it is no measure for
    /// the rest.
    private var times: [Double] { survey.times.map { ($0 / .microseconds(10)).rounded() / 100 } }
    private var laterTimes: [Double] { times.dropFirst().sorted() }
    private var median: Double { laterTimes[laterTimes.count / 2] }
    private var longest: Double { laterTimes[laterTimes.count - 1] }
    /// The last removals of the partition, then of the host.
    private var removals: [String] { survey.removals.map(Self.text) }

    private static func text(_ removal: TierSurvey.Removal) -> String {
        switch removal {
        case .never: "never"
        case .at(let time): "\(time)"
        case .unreadable: "unreadable with this CACHESTORE_TIER_KEY"
        }
    }

    /// The numbers. Omits those of an absent host.
    var json: JSON {
        .object(omittingNulls: [
            "requests": .integer(times.count),
            "first_milliseconds": .number(times[0]),
            "median_milliseconds": .number(median),
            "longest_milliseconds": .number(longest),
            "engine_time": .text("\(survey.engineTime)"),
            "engine_seconds_ahead": .integer(survey.secondsAhead),
            "last_removal": .text(removals[0]),
            "host": .optional(host),
            "last_removal_of_host": .optional(removals.dropFirst().first),
        ])
    }

    var text: String {
        let direction = survey.secondsAhead < 0 ? "behind" : "ahead of"
        let rows = [
            ("read", "\(median) ms in the median, \(longest) ms at most, \(times[0]) ms with the connection"),
            ("clock", "\(survey.engineTime), \(survey.secondsAhead.magnitude) s \(direction) this machine"),
            ("last removal", removals[0]),
        ]
        let ofHost = removals.dropFirst().map { ("last removal of \((host ?? "").inOneLine)", $0) }
        return (rows + ofHost).map { name, text in "\(name.leftAligned(in: 15)) \(text)" }.joined(separator: "\n")
    }
}
