import CFaults
import CacheStore
import FaultModel
import Foundation
import Synchronization

/// One run of a scenario.
final class ScenarioRun {
    /// The tries of a step before the store counts as broken. More than the number of consecutive failing calls.
    private static let maxTries = 50

    private let scenario: Scenario
    private let options: ScenarioOptions
    private let journal: Journal
    /// Whether failed steps are repeated, and everything is read back.
    private let persists: Bool

    private let clock = ScenarioClock()
    private var store: ResponseStore?
    private var expectation: PossibleAnswers

    init(_ scenario: Scenario, _ options: ScenarioOptions, _ journal: Journal, persists: Bool) {
        self.scenario = scenario
        self.options = options
        self.journal = journal
        self.persists = persists
        expectation = PossibleAnswers(mayEvict: options.fault?.isFullDisk ?? false)
    }

    func run() throws {
        try attempt("open") { self.store = try self.open() }
        for (number, step) in scenario.steps.enumerated() {
            clock.tick()
            expectation.begin(step)
            try attempt("step \(number), \(step)") { try self.perform(step) }
            expectation.acknowledge(step)
            journal.note("\(number)")
            cfaults_note("\(number)")
            switch step {
            case .put(let key, _), .grow(let key, _):
                if persists { try attempt("reading \(key)") { try self.verify(key) } }
            default: break
            }
        }
        if persists { try verifyAll() }
        store?.close()
    }

    /// Checks all keys, then the whole store: after the faults, the index works without a repair.
    private func verifyAll() throws {
        for key in expectation.versions.keys.sorted() { try attempt("reading \(key)") { try self.verify(key) } }
        cfaults_relent()
        for key in expectation.versions.keys.sorted() { try verify(key) }
        let store = try current()
        try store.flush()
        try store.sweep()
        let report = try store.check(digests: true)
        guard report.isSound, report.foreignFiles.isEmpty else {
            throw Failure("after all: \(report.problems) \(report.foreignFiles)")
        }
    }

    /// Runs `work`, which may fail. Repeats it if this run persists.
    private func attempt(_ what: String, _ work: () throws -> Void) throws {
        for _ in 0..<Self.maxTries {
            do {
                return try work()
            } catch let error as StoreError {
                guard persists, error != .closed else { throw Failure("\(what): \(error)") }
                if case .busy = error { throw Failure("\(what): \(error)") }
                print("refused: \(what): \(error)")
            }
        }
        throw Failure("\(what): never succeeds")
    }

    // MARK: Steps

    private func open() throws -> ResponseStore {
        var configuration = options.configuration
        configuration.clock = { [clock] in clock.now }
        return try ResponseStore(directory: URL(filePath: options.directory), configuration: configuration)
    }

    private func current() throws -> ResponseStore {
        guard let store else { throw Failure("no store") }
        return store
    }

    private func perform(_ step: Step) throws {
        switch step {
        case .reopen:
            store?.close()
            store = try open()
        case .handOver:
            let next = try open()
            // The new store reads nothing of the WAL before its first lookup.
            _ = try next.contains(CacheKey(name: "nothing"))
            store?.close()
            store = next
        default: try perform(step, current())
        }
    }

    private func perform(_ step: Step, _ store: ResponseStore) throws {
        switch step {
        case .put(let name, let version):
            let writer = try filled(store, version)
            try writer.commit(metadata(version.etag), for: CacheKey(name: name))
        case .abandon(let version): try filled(store, version).discard()
        case .grow(let name, let version):
            let writer = try grown(store, name, version)
            try writer.write(version.bytes.dropFirst(Int(writer.byteCount)))
            try writer.commit(metadata(version.etag), for: CacheKey(name: name))
        case .breakOff(let name, let version): _ = try grown(store, name, version)
        case .get(let name): try verify(name)
        case .freshen(let name):
            guard let entry = try store.peek(CacheKey(name: name)) else {
                if expectation.possible(name).contains(nil) { return }
                throw Failure("\(name) is gone")
            }
            try store.freshen(entry, with: metadata(entry.metadata.etag))
        case .derive(let name): try derive(name, store)
        case .fail(let name): try store.recordFailure(for: CacheKey(name: name), status: 503)
        case .remove(let name): try store.remove(CacheKey(name: name))
        case .evict(let maxBytes):
            try store.evict(maxBytes: maxBytes)
            let bytes = try store.statistics().physicalBytes
            guard bytes <= maxBytes else { throw Failure("\(bytes) bytes after an eviction to \(maxBytes)") }
        case .sweep: try store.sweep()
        case .flush: try store.flush()
        case .reopen, .handOver: break
        }
    }

    private func derive(_ name: String, _ store: ResponseStore) throws {
        guard let entry = try store.peek(CacheKey(name: name)) else {
            if expectation.possible(name).contains(nil) { return }
            throw Failure("\(name) is gone")
        }
        let version = expectation.possible(name).compactMap(\.self).first { $0.etag == entry.metadata.etag }
        guard let version else { throw Failure("\(name) has \(entry.metadata.etag ?? "no ETag")") }
        let isStored = try store.insertDerived(version.form.bytes, name: "form", of: entry)
        guard isStored || expectation.possible(name).contains(nil) else { throw Failure("no form of \(name)") }
    }

    /// A writer that holds the body, in chunks.
    private func filled(_ store: ResponseStore, _ version: Version) throws -> BodyWriter {
        let writer = store.makeBodyWriter()
        var rest = version.bytes[...]
        while !rest.isEmpty {
            try writer.write(rest.prefix(65_536))
            rest = rest.dropFirst(65_536)
        }
        return writer
    }

    /// A writer that holds three quarters of the body, and has stored a third and then a half.
    private func grown(_ store: ResponseStore, _ name: String, _ version: Version) throws -> BodyWriter {
        let (writer, bytes) = (store.makeBodyWriter(), version.bytes)
        var part = metadata(version.etag)
        part.part = EntryPart(start: 0, completeLength: Int64(bytes.count))
        var prefix: StoredEntry?
        for share in [3, 2] {
            try writer.write(bytes[Int(writer.byteCount)..<(bytes.count / share)])
            prefix = try writer.commitPrefix(part, for: CacheKey(name: name), replacing: prefix)
        }
        try writer.write(bytes[Int(writer.byteCount)..<(bytes.count / 4 * 3)])
        return writer
    }

    private func metadata(_ etag: String?) -> EntryMetadata {
        EntryMetadata(
            etag: etag, requestedAt: clock.now, receivedAt: clock.now, expiresAt: clock.now + 1_000_000,
            head: scenario.head)
    }

    // MARK: Reading

    private func verify(_ name: String) throws {
        let store = try current()
        let expected = expectation.possible(name)
        let entry = try store.lookup(CacheKey(name: name))
        let found = try entry.flatMap { entry in
            try store.openBody(of: entry).map { (try $0.data(), entry.metadata.etag) }
        }
        guard expected.contains(where: { $0?.etag == found?.1 && $0?.bytes == found?.0 }) else {
            throw Failure("\(name) has \(found.map { "\($0.0.count) bytes, \($0.1 ?? "")" } ?? "nothing")")
        }
        guard let entry, let form = try store.openDerived(name: "form", of: entry)?.data() else { return }
        guard expected.contains(where: { $0?.etag == entry.metadata.etag && $0?.form.bytes == form }) else {
            throw Failure("\(name) has a form of something else")
        }
    }
}

/// Advances by a second with each step, so that the order of accesses does not depend on the machine.
private final class ScenarioClock: Sendable {
    /// Guards the time.
    private let time = Mutex(Date(timeIntervalSince1970: 784_111_777))

    var now: Date { time.withLock { $0 } }

    func tick() { time.withLock { $0 += 1 } }
}
