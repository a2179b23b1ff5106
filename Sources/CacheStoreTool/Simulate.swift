import ArgumentParser
import CacheReports
import CacheStore

/// Replays recorded requests with each eviction policy, and reports the hits.
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replay recorded requests, and say which share of them each eviction policy makes hits.",
        discussion: """
            Replays the record of the store, which 'cachestore record on' begins; or a file. A file is an access log in the \
            Common or Combined Log Format, or a trace: one request a line, 'time key size', in the order of time. Empty \
            lines and those that begin with # are passed over. Of a record and a log, requests count that a cache may \
            answer: GET, with a status that is cacheable by default. Lines of a log that are no requests are counted and \
            left out. A key that is there is a hit, whatever its size now. The stores are real, with their limits, but for \
            the files of bodies: rows and pages are what is written to their indices, in a temporary directory. The byte ratio \
            is the share of the requested bytes that hits have. The bound is what no cache of that size can exceed, even one that knows the future; it may itself be out of reach.
            """)

    @Argument(
        help: "The file; - reads the standard input. Without it: the record of the store.", completion: .file())
    var trace: String?

    @Option(
        help: ArgumentHelp(
            "The format of the file: trace or access-log. Without it: what its first line looks like.",
            valueName: "format"))
    var format: TraceFormat?

    @Option(
        help: ArgumentHelp(
            "The limit, for bodies and index: \(ByteLimit.help). No body may have more than an eighth of it.",
            valueName: "bytes"))
    var maxBytes: ByteLimit

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        if format != nil, trace == nil {
            throw ValidationError("--format needs a file; the store's record has its own")
        }
        if store.store != nil, trace != nil { throw ValidationError("name a file or a --store, not both") }
    }

    func run() async throws {
        // So that a signal leaves no files in the temporary directory.
        let (result, signal) = try await Interruption.cancelling { [self] in
            var replay = try TraceReplay(limits: Limits(maxBytes: maxBytes.byteCount), format: format)
            if let trace {
                try read(InputFile(path: trace), into: &replay)
            } else {
                try await readRecord(into: &replay)
            }
            return try replay.end()
        }
        if let signal { throw signal.exitCode }
        try report.write(result.json, text: result.text)
    }

    private func read(_ input: InputFile, into replay: inout TraceReplay) throws {
        do {
            while true {
                let chunk = try input.nextChunk()
                if chunk.isEmpty { break }
                try replay.add(chunk)
            }
            try replay.endLine()
        } catch let error as TraceRequest.Malformed {
            throw Failure(.broken, "\(input.path): \(error)")
        }
        if replay.isEmpty, replay.leftOut.malformedLines > 0 {
            throw Failure(.broken, "\(input.path): no line is a request; is it an access log, uncompressed?")
        }
    }

    private func readRecord(into replay: inout TraceReplay) async throws {
        replay = try await store.withExistingStore(isReadOnly: true) { [replay] store in
            var replay = replay
            try replay.addRecord(of: store)
            return replay
        }
        if replay.isEmpty, replay.leftOut == LeftOutRequests() {
            throw Failure(.no, "\(store.path) has no record of requests; 'cachestore record on' begins one")
        }
    }
}

extension TraceFormat: ExpressibleByArgument {}
