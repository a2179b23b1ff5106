import CacheTier
import HTTPCaching
import TestSupport
import Testing

@Suite("A model of removal from a tier")
struct RemovalModelTests {
    @Test(
        """
        in 100,000 interleavings of fills, unsafe requests and readers, with slow, lost and failed writes, lost \
        epochs, restarts and a clock that is set, nothing removed is seen after the lifetime, and by the remover never
        """, .requirement("T8"))
    func model() async {
        var generator = SeededGenerator()
        var (served, late, own, unfinished, readLater) = (0, 0, 0, 0, 0)
        for number in 0..<100_000 {
            // Yields the thread to other tests.
            if number % 500 == 0 { await Task.yield() }
            let run = Interleaving.run(using: &generator)
            served += run.served
            late += run.lateViolations
            own += run.ownViolations
            unfinished += run.failedWrites
            readLater += run.servedReadLater
        }
        #expect(late == 0, "\(generator)")
        #expect(own == 0, "\(generator)")
        #expect(served > 10_000)
        #expect(unfinished > 10_000)
        #expect(readLater > 1000)
    }

    @Test(
        "an epoch read after the origin was asked counts only by the engine's time before and after",
        .requirement("T8"),
        arguments: [Interleaving.Trust.any, .byRead, .byRequest])
    fileprivate func control(_ trust: Interleaving.Trust) async {
        var generator = SeededGenerator()
        var violations = 0
        for number in 0..<100_000 {
            // Yields the thread to other tests.
            if number % 500 == 0 { await Task.yield() }
            let run = Interleaving.run(trust, using: &generator)
            violations += run.lateViolations + run.ownViolations
        }
        #expect(violations > 0, "the model does not notice a weaker rule")
    }
}

/// A model of the protocol. Machines share one record and one epoch; each step is one request of one machine.
private struct Interleaving {
    /// The rule that accepts the epochs of a fill, if they are read after the origin was asked.
    enum Trust {
        case any
        /// Only by the engine's time of the read.
        case byRead
        /// Only by the engine's time before the origin was asked.
        case byRequest
        /// By the rule of `EpochTable`.
        case byBoth
    }

    private enum Phase {
        case idle
        /// Tier and origin were asked concurrently: the epoch is read later.
        case bothAsked(EpochTable.Time, version: Int)
        case epochRead(String?, start: Duration, isFill: Bool)
        /// The epoch was absent: a fill writes a new one before it asks the origin.
        case epochMissing(Write)
        case originAsked(String?, version: Int, isReadLater: Bool = false)
    }

    /// The write of an epoch. It reaches the engine at most once: before its end, at its end or later.
    private struct Write {
        let value: String
        var removalCount = 0
        let start: Duration
        /// The minimum version of the origin for the machine's removals, or `nil` for the first epoch of a scope.
        var version: Int?
        var isApplied = false
    }

    private struct Machine {
        var table = EpochTable(lifetime: Interleaving.lifetime)
        /// Each machine makes two concurrent requests.
        var phases = [Phase.idle, .idle]
        /// The lowest version that this machine may serve.
        var removed = 0
        var hasJob = false
        var write: Write?
        /// The last stated time of the engine, and the uptime then.
        var time: (date: HTTPDate, uptime: Duration)?
    }

    private static let lifetime = Duration.seconds(5)

    private let trust: Trust
    private var now = Duration.zero
    /// The engine's clock. Set at most once.
    private var clock = HTTPDate(secondsSince1970: 1_700_000_000)
    private var stepsUntilClock: Int?
    private var version = 0
    private var epoch: String?
    private var epochTime = HTTPDate.distantPast
    private var writeCount = 0
    private var record: (version: Int, epoch: String, isReadLater: Bool)?
    /// The versions below which responses are removed, with the times at which the engine accepted the epochs.
    private var removals: [(version: Int, time: Duration)] = []
    private var machines = [Machine](repeating: Machine(), count: 3)
    /// Writes that their machines abandoned, and that may still arrive.
    private var late: [Write] = []
    private(set) var served = 0
    private(set) var lateViolations = 0
    private(set) var ownViolations = 0
    private(set) var failedWrites = 0
    private(set) var servedReadLater = 0

    private init(_ trust: Trust) {
        self.trust = trust
    }

    static func run(_ trust: Trust = .byBoth, using generator: inout SeededGenerator) -> Interleaving {
        var model = Interleaving(trust)
        if Bool.random(using: &generator) {
            (model.epoch, model.epochTime) = ("0", model.engineTime.advanced(by: -3600))
        }
        for _ in 0..<40 {
            let random = generator.next()
            model.stepClock(isForward: random >> 53 & 1 == 0)
            model.now += .milliseconds(Int(random >> 16 & 0x3FF))
            if random >> 48 & 31 == 0 { model.now += .seconds(40) }
            let (machine, choice) = (Int(random & 0xFF) % 3, Int(random >> 8 & 0x3F))
            switch random >> 40 & 7 {
            case 0 where choice == 0: model.epoch = nil
            case 0 where choice == 1: model.machines[machine] = Machine()
            case 0: model.deliverLateWrite()
            case 1, 2: model.stepJob(machine, choice)
            case let slot: model.step(machine, Int(slot & 1), choice)
            }
        }
        return model
    }

    /// Sets the engine's clock some steps after the first fill that asks tier and origin concurrently.
    private mutating func stepClock(isForward: Bool) {
        guard let steps = stepsUntilClock else { return }
        if steps == 0 { clock = clock.advanced(by: isForward ? 3600 : -3600) }
        stepsUntilClock = steps - 1
    }

    private var engineTime: HTTPDate { clock.advanced(by: now.components.seconds) }

    private func time(_ index: Int) -> EpochTable.Time {
        let date = machines[index].time.map { $0.date.advanced(by: (now - $0.uptime).components.seconds) }
        return EpochTable.Time(uptime: now, date: date)
    }

    private mutating func readEpoch(_ index: Int) -> EpochTable.Reading {
        let date = engineTime
        machines[index].time = (date, now)
        let present = trust == .byRequest ? date.advanced(by: 1 << 30) : date
        let stamp = epoch.map { _ in SharedTier.Stamp(now: present, lastModified: epochTime, age: 0) }
        return machines[index].table.note(epoch, of: "e", at: now, .init(uptime: now, stamp: stamp))
    }

    /// Returns the epoch for the write of a fill, after tier and origin were asked concurrently.
    private func epoch(_ index: Int, at time: EpochTable.Time) -> String? {
        let table = machines[index].table
        switch trust {
        case .any: return table.known("e")
        case .byRead: return table.known("e", at: .init(uptime: time.uptime, date: engineTime.advanced(by: 1 << 30)))
        case .byRequest, .byBoth: return table.known("e", at: time)
        }
    }

    private mutating func apply(_ write: Write) {
        epoch = write.value
        // The machines of an engine have different clocks.
        epochTime = engineTime.advanced(by: -Int64(writeCount * 7 % 20))
        if let version = write.version { removals.append((version, now)) }
    }

    private mutating func makeWrite() -> Write {
        writeCount += 1
        return Write(value: "\(writeCount)", start: now)
    }

    private mutating func deliverLateWrite() {
        guard let write = late.popLast() else { return }
        apply(write)
    }

    /// The job that repeats the write of the machine's removals until the engine accepts one.
    private mutating func stepJob(_ index: Int, _ choice: Int) {
        guard machines[index].hasJob else { return }
        guard var write = machines[index].write else {
            var write = makeWrite()
            write.removalCount = machines[index].table.removalCount(of: "e")
            write.version = machines[index].removed
            machines[index].write = write
            return
        }
        switch choice {
        case ..<16:
            // The engine accepted the write; its answer is in transit.
            if !write.isApplied { apply(write) }
            write.isApplied = true
            machines[index].write = write
        case ..<28:
            // The write fails for the machine: it is dropped or still in transit, or only its answer is lost.
            failedWrites += 1
            if !write.isApplied, choice < 22 { late.append(write) }
            machines[index].write = nil
        default:
            if !write.isApplied { apply(write) }
            machines[index].write = nil
            let isDone = machines[index].table.endRemoval(
                of: "e", count: write.removalCount, write.value, from: write.start, to: now)
            if isDone { machines[index].hasJob = false }
        }
    }

    private mutating func step(_ index: Int, _ slot: Int, _ choice: Int) {
        switch machines[index].phases[slot] {
        case .idle where choice < 10:
            // The success of an unsafe request: the origin has changed.
            version += 1
            machines[index].removed = version
            if machines[index].table.beginRemoval(of: "e") { machines[index].hasJob = true }
        case .idle where choice < 18:
            machines[index].phases[slot] = .bothAsked(time(index), version: version)
            stepsUntilClock = stepsUntilClock ?? choice
        case .idle:
            var read = machines[index].table.current("e", at: now)
            if read == nil {
                switch readEpoch(index) {
                case .value(let value): read = value
                case .absent where choice < 40:
                    machines[index].phases[slot] = .epochMissing(makeWrite())
                    return
                default: break
                }
            }
            machines[index].phases[slot] = .epochRead(read, start: now, isFill: choice < 40)
        case .bothAsked(let time, let version):
            if machines[index].table.current("e", at: now) == nil { _ = readEpoch(index) }
            let read = epoch(index, at: time)
            machines[index].phases[slot] = .originAsked(read, version: version, isReadLater: true)
        case .epochMissing(let write):
            stepNewEpoch(write, index, slot, choice)
        case .epochRead(let read, _, isFill: true):
            machines[index].phases[slot] = .originAsked(read, version: version)
        case .originAsked(let read, let version, let isReadLater):
            machines[index].phases[slot] = .idle
            if let read { record = (version, read, isReadLater) }
        case .epochRead(let read, let start, isFill: false):
            machines[index].phases[slot] = .idle
            guard let record, record.epoch == read else { return }
            served += 1
            if record.isReadLater { servedReadLater += 1 }
            let isRemoved = removals.contains { record.version < $0.version && $0.time <= start - Self.lifetime }
            if isRemoved { lateViolations += 1 }
        }
        checkOwn(index, slot)
    }

    private mutating func stepNewEpoch(_ write: Write, _ index: Int, _ slot: Int, _ choice: Int) {
        var write = write
        let reachesEngine = (8..<28).contains(choice) || choice >= 40
        if reachesEngine, !write.isApplied { apply(write) }
        switch choice {
        case 8..<28:
            write.isApplied = true
            machines[index].phases[slot] = .epochMissing(write)
        case ..<40:
            // The load no longer waits for the write.
            if !write.isApplied { late.append(write) }
            machines[index].phases[slot] = .originAsked(nil, version: version)
        default:
            machines[index].table.wrote(write.value, to: "e", from: write.start, to: now)
            machines[index].phases[slot] = .originAsked(machines[index].table.known("e"), version: version)
        }
    }

    /// Checks that a machine with the current epoch serves nothing from before its own unsafe requests.
    private mutating func checkOwn(_ index: Int, _ slot: Int) {
        guard case .epochRead(let read?, start: now, isFill: false) = machines[index].phases[slot],
            let record, record.epoch == read
        else { return }
        if record.version < machines[index].removed { ownViolations += 1 }
    }
}
