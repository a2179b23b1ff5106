import FaultModel
import TestSupport

/// Runs scenarios in a directory, and examines the resulting stores.
struct Laboratory: Sendable {
    /// Whether every point is tried, or as many as some seconds allow.
    static let isThorough = ProcessInfo.processInfo.environment["CACHESTORE_FAULTS"] == "all"

    /// Whether the system calls of a program can fail on demand here. The sanitizer replaces libc's functions itself.
    static var canBreak: Bool {
        #if os(Linux) && (arch(x86_64) || arch(arm64))
        ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil
        #else
        false
        #endif
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// The directory of the store.
    var store: URL { directory.url.appending(path: "store", directoryHint: .isDirectory) }
    var storePath: String { directory.path + "/store" }
    var recordPath: String { directory.path + "/record" }
    private var outputPath: String { directory.path + "/output" }

    // MARK: Running

    func options(_ mode: ScenarioOptions.Mode, _ fault: FaultPlan? = nil) -> ScenarioOptions {
        var options = ScenarioOptions(mode, directory: storePath, journal: directory.path + "/journal")
        options.fault = fault
        return options
    }

    /// - Parameter limits: Shell commands that limit the resources of the program, or `nil`.
    func start(_ options: ScenarioOptions, limits: String? = nil) throws -> Child {
        let json = String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
        let program = try ProcessRunner.builtProduct(named: "StoreScenario")
        guard let limits else { return try Child(program, [json], output: outputPath) }
        return try Child(
            URL(filePath: "/bin/sh"),
            ["-c", limits + " && exec \"$0\" \"$1\"", program.path(percentEncoded: false), json], output: outputPath)
    }

    func run(_ options: ScenarioOptions) async throws -> Child.Ending { try await start(options).wait() }

    /// The output of the programs.
    var output: String { (try? String(contentsOfFile: outputPath, encoding: .utf8)) ?? "" }

    /// The number of finished steps.
    var acknowledged: Int { notes.count }

    /// The notes of the programs, whole lines only.
    var notes: [String] {
        let journal = (try? String(contentsOfFile: directory.path + "/journal", encoding: .utf8)) ?? ""
        return journal.split(separator: "\n").map(String.init)
    }

    /// Begins a new journal and keeps the store.
    func forget() throws { try FileManager.default.removeItem(atPath: directory.path + "/journal") }

    /// The number of calls of `kinds` in a scenario without faults.
    static func calls(_ mode: ScenarioOptions.Mode, _ kinds: CallKinds) async throws -> UInt64 {
        let laboratory = try Laboratory()
        let ending = try await laboratory.run(laboratory.options(mode, FaultPlan(.count, kinds)))
        guard ending == .exit(0), let count = laboratory.callCount else {
            throw Failure("\(ending): \(laboratory.output)")
        }
        return count
    }

    /// The number of calls that a program counted before its end.
    var callCount: UInt64? {
        output.split(separator: " ").last.flatMap { UInt64($0.trimmingCharacters(in: .newlines)) }
    }

    // MARK: Examining

    /// All problems of the store that a scenario left.
    func problems(_ expectation: PossibleAnswers) -> [String] { StoreExamination(store, expectation).problems() }

    func remove() { try? FileManager.default.removeItem(at: directory.url) }
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The points that are tried: all, or an evenly spread selection.
func points(_ count: UInt64, atMost limit: Int) -> [UInt64] {
    guard count > 0 else { return [] }
    let step = Laboratory.isThorough ? 1 : max(1, count.quotientAndRemainder(dividingBy: UInt64(limit)).quotient)
    // Differs between runs, so that many runs try all points.
    let offset = UInt64.random(in: 0..<step)
    return Array(stride(from: 1 + offset, through: count, by: UInt64.Stride(step)))
}

/// Prints a figure.
func report(_ words: String) { print("fault lab:", words) }
