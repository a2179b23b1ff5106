import ArgumentParser
import CacheReports
import CacheStore

/// Turns the record of a store on or off, and shows it.
struct Record: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record the requests of all programs on a store, and show them.",
        discussion: """
            The record has a fixed size and overwrites the oldest requests. It has times, URLs with their queries, \
            outcomes, sizes and durations, but no fields, bodies or passwords. A query may hold secrets: switch the record \
            off when you no longer need it. Programs that use the store follow the switch within a second.
            """,
        subcommands: [On.self, Off.self, Status.self, Show.self], defaultSubcommand: Status.self)

    /// Starts recording.
    struct On: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let all programs on the store record their requests.")

        @Option(
            help: ArgumentHelp(
                "The size of the record, 512 bytes each. Another size than the present one begins a new record.",
                valueName: "requests"))
        var capacity: Int?

        @OptionGroup var store: StoreOptions

        func validate() throws {
            if let capacity, !(1...RequestRing.maxCapacity).contains(capacity) {
                throw ValidationError("--capacity needs a number from 1 to \(RequestRing.maxCapacity)")
            }
        }

        func run() async throws {
            try await store.withStore { try $0.startRecordingRequests(capacity: capacity) }
        }
    }

    /// Stops recording.
    struct Off: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End the recording. The record stays, to be shown and simulated.")

        @Flag(help: "Delete the record.")
        var discard = false

        @OptionGroup var store: StoreOptions

        func run() async throws {
            try await store.withExistingStore { try $0.stopRecordingRequests(discardsRecords: discard) }
        }
    }

    /// Shows the state of recording.
    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Say whether the store records, and how much.")

        @OptionGroup var store: StoreOptions
        @OptionGroup var report: ReportOptions

        func run() async throws {
            let recording = try await store.withExistingStore(isReadOnly: true) { try $0.requestRecording() }
            let text = recording.map { recording in
                """
                recording           \(recording.isOn ? "on" : "off")
                requests            \(recording.count)
                capacity            \(recording.capacity)
                overwritten         \(recording.lost)
                file size           \(recording.byteCount.asByteCount)
                """
            }
            try report.write(
                [
                    "is_on": .bool(recording?.isOn ?? false), "requests": .integer(recording?.count ?? 0),
                    "capacity": .integer(recording?.capacity ?? 0), "overwritten": .integer(recording?.lost ?? 0),
                    "byte_size": .integer(recording?.byteCount ?? 0),
                ],
                text: text ?? "recording           off")
        }
    }

    /// Prints recorded requests.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print recorded requests, the oldest first.",
            discussion: """
                A line a request: its start in UTC, outcome, status, method, the bytes of its body, the time to its end, and \
                its URL. With --jsonl, and with --json and --follow, an object a line. 'cachestore watch' shows the counters of a store that \
                does not record.
                """)

        @Flag(name: .shortAndLong, help: "Then print further requests while programs record them. Ctrl-C ends it.")
        var follow = false

        @OptionGroup var store: StoreOptions
        @OptionGroup var report: ReportOptions

        func run() async throws {
            try await store.withExistingStore(isReadOnly: true) { store in
                let width = Terminal.ofOutput?.width
                var cursor: RequestCursor?
                var records: [JSON] = []
                while true {
                    try store.forEachRecordPage(since: cursor) { page in
                        if cursor != nil, page.lost > 0 {
                            StandardError.say("\(page.lost.of("request", "requests")) lost")
                        }
                        for record in page.records {
                            if report.format == .json, !follow {
                                records.append(record.json)
                            } else if report.format != nil {
                                try ReportFormat.jsonl.write(record.json)
                            } else {
                                try StandardOutput.write(line: record.line(width: width))
                            }
                        }
                        cursor = page.next
                    }
                    guard follow else { break }
                    // Polls as often as programs write their records.
                    try await Task.sleep(for: .milliseconds(100))
                }
                if report.format == .json { try ReportFormat.json.write(.array(records)) }
            }
        }
    }
}
