import CacheTier
import TestSupport
import Testing

@Suite("A model of removal by tag")
struct TagRemovalModelTests {
    @Test(
        """
        in 100,000 interleavings of fills, removals by tag and readers, with late writes, lost epochs and restarts, \
        nothing removed is seen after the lifetime; without the common epoch, it would be
        """, .requirement("T11"))
    func model() async {
        var generator = SeededGenerator()
        var (served, violations, withoutCommon) = (0, 0, 0)
        for number in 0..<100_000 {
            // Yields the thread to other tests.
            if number % 500 == 0 { await Task.yield() }
            let run = Interleaving.run(comparesCommon: true, using: &generator)
            served += run.served
            violations += run.violations
            if number % 4 == 0 {
                withoutCommon += Interleaving.run(comparesCommon: false, using: &generator).violations
            }
        }
        #expect(violations == 0, "\(generator)")
        #expect(served > 10_000)
        #expect(withoutCommon > 100)
    }
}

/// Machines share one record with one tag, the epoch of the tag, and the common epoch. Each step is one request.
private struct Interleaving {
    private enum Object: String {
        case common, tag
    }

    /// The write of an epoch. It reaches the engine at most once: in its step, or later.
    private struct Write {
        let object: Object
        let value: String
        let start: Duration
    }

    private enum Phase {
        case idle
        /// Writes the common epoch that the engine lacks.
        case commonMissing(Write)
        case originAsked(common: String?, version: Int)
        case tagMissing(Write, common: String, version: Int)
        case tagKnown(String, common: String, version: Int)
        case recordReady(String, version: Int)
        /// A removal has begun, with the minimum version.
        case removing(version: Int)
        case commonReplaced(version: Int)
    }

    private struct Machine {
        var table = EpochTable(lifetime: Interleaving.lifetime)
        /// Each machine makes two concurrent requests.
        var phases = [Phase.idle, .idle]
    }

    private static let lifetime = Duration.seconds(5)

    private let comparesCommon: Bool
    private var now = Duration.zero
    private var version = 0
    private var writeCount = 0
    private var objects: [Object: String] = [:]
    private var record: (version: Int, tag: String)?
    /// The versions below which responses are removed, with the times at which the removals were complete.
    private var removals: [(version: Int, time: Duration)] = []
    private var machines = [Machine](repeating: Machine(), count: 3)
    /// Writes that their machines abandoned, and that may still arrive.
    private var late: [Write] = []
    private(set) var served = 0
    private(set) var violations = 0

    private init(comparesCommon: Bool) {
        self.comparesCommon = comparesCommon
    }

    static func run(comparesCommon: Bool, using generator: inout SeededGenerator) -> Interleaving {
        var model = Interleaving(comparesCommon: comparesCommon)
        for _ in 0..<40 {
            let random = generator.next()
            model.now += .milliseconds(Int(random >> 16 & 0x3FF))
            let (machine, choice) = (Int(random & 0xFF) % 3, Int(random >> 8 & 0x3F))
            switch random >> 40 & 15 {
            case 0 where choice < 8: model.objects[choice % 2 == 0 ? .tag : .common] = nil
            case 0 where choice == 8: model.machines[machine] = Machine()
            case 0: if let write = model.late.popLast() { model.objects[write.object] = write.value }
            case let slot: model.step(machine, Int(slot & 1), choice)
            }
        }
        return model
    }

    private mutating func makeWrite(_ object: Object) -> Write {
        writeCount += 1
        return Write(object: object, value: "\(writeCount)", start: now)
    }

    /// Returns a cached epoch, or reads it from the engine.
    private mutating func read(_ object: Object, _ index: Int, isFresh: Bool = false) -> EpochTable.Reading {
        if !isFresh, let value = machines[index].table.current(object.rawValue, at: now) { return .value(value) }
        return machines[index].table.note(objects[object], of: object.rawValue, at: now, .init(uptime: now, stamp: nil))
    }

    /// Ends a write that has reached the engine, or will reach it later.
    private mutating func finish(_ write: Write, _ index: Int, _ choice: Int) -> Bool {
        guard choice >= 8 else {
            late.append(write)
            return false
        }
        objects[write.object] = write.value
        machines[index].table.wrote(write.value, to: write.object.rawValue, from: write.start, to: now)
        return true
    }

    private mutating func step(_ index: Int, _ slot: Int, _ choice: Int) {
        machines[index].phases[slot] = next(machines[index].phases[slot], index, choice)
    }

    private mutating func next(_ phase: Phase, _ index: Int, _ choice: Int) -> Phase {
        switch phase {
        case .idle where choice < 10:
            version += 1
            return .removing(version: version)
        case .idle where choice < 16:
            // Asks tier and origin concurrently.
            return .originAsked(common: machines[index].table.known("common"), version: version)
        case .idle where choice < 40:
            switch read(.common, index) {
            case .value(let common): return .originAsked(common: common, version: version)
            case .absent: return .commonMissing(makeWrite(.common))
            default: return .originAsked(common: nil, version: version)
            }
        case .idle:
            serve(index)
            return .idle
        case .commonMissing(let write):
            let isWritten = finish(write, index, choice)
            return .originAsked(common: isWritten ? machines[index].table.known("common") : nil, version: version)
        case .originAsked(let common?, let version):
            switch read(.tag, index) {
            case .value(let tag): return .tagKnown(tag, common: common, version: version)
            case .absent: return .tagMissing(makeWrite(.tag), common: common, version: version)
            default: return .idle
            }
        case .originAsked:
            return .idle
        case .tagMissing(let write, let common, let version):
            guard finish(write, index, choice), let tag = machines[index].table.known("tag") else { return .idle }
            return .tagKnown(tag, common: common, version: version)
        case .tagKnown(let tag, let common, let version):
            guard comparesCommon else { return .recordReady(tag, version: version) }
            guard case .value(common) = read(.common, index, isFresh: true) else { return .idle }
            return .recordReady(tag, version: version)
        case .recordReady(let tag, let version):
            record = (version, tag)
            return .idle
        case .removing(let version):
            // A removal repeats itself until both writes have succeeded.
            return finish(makeWrite(.common), index, choice) ? .commonReplaced(version: version) : phase
        case .commonReplaced(let version):
            guard finish(makeWrite(.tag), index, choice) else { return .removing(version: version) }
            removals.append((version, now))
            return .idle
        }
    }

    private mutating func serve(_ index: Int) {
        guard let record, case .value(record.tag) = read(.tag, index) else { return }
        served += 1
        let isRemoved = removals.contains { record.version < $0.version && $0.time <= now - Self.lifetime }
        if isRemoved { violations += 1 }
    }
}
