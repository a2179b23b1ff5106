import CacheStore
import FaultModel
import Foundation

/// Uses a store at random, concurrently with other processes. Every answer must be a body that one of them stored.
struct Stress {
    private let store: ResponseStore
    private var generator: Generator

    init(_ options: ScenarioOptions, seed: UInt64) throws {
        var configuration = options.configuration
        configuration.accessInterval = .milliseconds(50)
        // Longer than any transaction on a slow disk: "busy" then means that this process was starved.
        configuration.busyTimeout = .seconds(30)
        store = try ResponseStore(directory: URL(filePath: options.directory), configuration: configuration)
        generator = Generator(state: seed)
    }

    func run(for seconds: Double) throws {
        var this = self
        let end = ContinuousClock.now + .seconds(seconds)
        var count = 0
        while ContinuousClock.now < end {
            try this.step()
            count += 1
        }
        store.close()
        print("operations", count)
    }

    private mutating func step() throws {
        let subject = StressBody.subjects.randomElement(using: &generator) ?? ""
        let key = try CacheKey(name: subject + "/" + String(Int.random(in: 0..<6, using: &generator)))
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<55: try get(key, subject)
        case 55..<85:
            let size = [0, 20, 2_000, 20_000, 300_000].randomElement(using: &generator) ?? 0
            let body = StressBody(subject: subject, number: UInt64.random(in: 0..<4, using: &generator), padding: size)
            try store.insert(
                body.bytes, metadata: EntryMetadata(etag: body.etag, requestedAt: Date(), receivedAt: Date()), for: key)
        case 85..<93: try store.remove(key)
        case 93..<95: try store.evict(maxBytes: Int64.random(in: 0..<3_000_000, using: &generator))
        case 95..<97: try store.recordFailure(for: key, status: 500)
        case 97: try store.flush()
        case 98: try store.sweep()
        default:
            if let entry = try store.peek(key) { try store.freshen(entry, with: entry.metadata) }
        }
    }

    private func get(_ key: CacheKey, _ subject: String) throws {
        guard let entry = try store.lookup(key), let bytes = try store.openBody(of: entry)?.data() else { return }
        let body = try StressBody(bytes)
        guard body.subject == subject, body.etag == entry.metadata.etag else {
            throw Failure("\(key) has the body of \(body.subject) \(body.etag), and \(entry.metadata.etag ?? "none")")
        }
        let form = Data("form of \(body.etag)".utf8)
        if let found = try store.openDerived(name: "form", of: entry)?.data() {
            guard found == form else { throw Failure("\(key) has a form of something else") }
        } else if body.number == 1 {
            try store.insertDerived(form, name: "form", of: entry)
        }
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }
}

/// A body that names its keys: `subject number padding`, a line feed, and noise.
private struct StressBody {
    /// The beginning of the keys; keys of one subject share bodies.
    static let subjects = (0..<8).map { "subject-\($0)" }

    let subject: String
    let number: UInt64
    let padding: Int

    var etag: String { "\"\(subject) \(number) \(padding)\"" }

    var bytes: Data { Data("\(subject) \(number) \(padding)\n".utf8) + .noise(padding, seed: number) }

    init(subject: String, number: UInt64, padding: Int) {
        self.subject = subject
        self.number = number
        self.padding = padding
    }

    /// Parses the whole body from these bytes.
    init(_ bytes: Data) throws {
        let words = String(decoding: bytes.prefix { $0 != 0x0a }, as: UTF8.self).split(separator: " ").map(String.init)
        guard words.count == 3, let number = UInt64(words[1]), let padding = Int(words[2]) else {
            throw Failure("\(bytes.count) bytes that nobody stored")
        }
        self.init(subject: words[0], number: number, padding: padding)
        guard bytes == self.bytes else { throw Failure("\(subject) \(number) \(padding) with other bytes") }
    }
}
