import CacheTier
import TestSupport
import Testing

@Suite("A model of removal from a tier")
struct RemovalModelTests {
    @Test(
        """
        T8: in 100,000 interleavings of fills, unsafe requests and readers, with slow, lost and failed writes, lost \
        epochs and restarts, nothing removed is seen after the lifetime, and by the remover never
        """)
    func model() {
        var generator = SeededGenerator()
        var (served, late, own, unfinished) = (0, 0, 0, 0)
        for _ in 0..<100_000 {
            let run = Interleaving.run(using: &generator)
            served += run.served
            late += run.lateViolations
            own += run.ownViolations
            unfinished += run.failedWrites
        }
        #expect(late == 0, "\(generator)")
        #expect(own == 0, "\(generator)")
        #expect(served > 10_000 && unfinished > 10_000)
    }
}

/// A model of the protocol: machines share one record and one epoch; each step is one request of one machine.
private struct Interleaving {
    private enum Phase {
        case idle
        case epochRead(String?, start: Duration, isFill: Bool)
        /// The epoch was absent: a fill writes another one before it asks the origin.
        case epochMissing(Write)
        case originAsked(String?, version: Int)
    }

    /// The write of an epoch. It reaches the engine at most once, at its end, before it or after it.
    private struct Write {
        let value: String
        var generation = 0
        let start: Duration
        /// The version of the origin that the machine's removals demand; `nil` for the first epoch of a scope.
        var version: Int?
        var isApplied = false
    }

    private struct Machine {
        var table = EpochTable(lifetime: Interleaving.lifetime)
        /// Two requests at a time.
        var phases = [Phase.idle, .idle]
        /// The version before which this machine may serve nothing.
        var removed = 0
        var hasJob = false
        var write: Write?
    }

    private static let lifetime = Duration.seconds(5)

    private var now = Duration.zero
    private var version = 0
    private var epoch: String?
    private var writeCount = 0
    private var record: (version: Int, epoch: String)?
    /// The versions before which responses are removed, with the times at which the engine took the epochs.
    private var removals: [(version: Int, time: Duration)] = []
    private var machines = [Machine](repeating: Machine(), count: 3)
    /// Writes that their machines have given up, and that still arrive.
    private var late: [Write] = []
    private(set) var served = 0
    private(set) var lateViolations = 0
    private(set) var ownViolations = 0
    private(set) var failedWrites = 0

    static func run(using generator: inout SeededGenerator) -> Interleaving {
        var model = Interleaving()
        for _ in 0..<40 {
            let random = generator.next()
            model.now += .milliseconds(Int(random >> 16 & 0x3FF))
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

    private mutating func apply(_ write: Write) {
        epoch = write.value
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

    /// The job that writes the machine's removals until the engine has taken one.
    private mutating func stepJob(_ index: Int, _ choice: Int) {
        guard machines[index].hasJob else { return }
        guard var write = machines[index].write else {
            var write = makeWrite()
            write.generation = machines[index].table.generation(of: "e")
            write.version = machines[index].removed
            machines[index].write = write
            return
        }
        switch choice {
        case ..<16:
            // The engine has taken the write; its answer is on the way.
            if !write.isApplied { apply(write) }
            write.isApplied = true
            machines[index].write = write
        case ..<28:
            // Fails for the machine: dropped, or still on the way, or only its answer is lost.
            failedWrites += 1
            if !write.isApplied, choice < 22 { late.append(write) }
            machines[index].write = nil
        default:
            if !write.isApplied { apply(write) }
            machines[index].write = nil
            let isDone = machines[index].table.endRemoval(
                of: "e", generation: write.generation, write.value, from: write.start, to: now)
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
            // A fill that asks tier and origin at once.
            machines[index].phases[slot] = .originAsked(machines[index].table.known("e"), version: version)
        case .idle:
            var read = machines[index].table.current("e", at: now)
            if read == nil {
                switch machines[index].table.note(epoch, of: "e", at: now) {
                case .value(let value): read = value
                case .absent where choice < 40:
                    machines[index].phases[slot] = .epochMissing(makeWrite())
                    return
                default: break
                }
            }
            machines[index].phases[slot] = .epochRead(read, start: now, isFill: choice < 40)
        case .epochMissing(let write):
            stepNewEpoch(write, index, slot, choice)
        case .epochRead(let read, _, isFill: true):
            machines[index].phases[slot] = .originAsked(read, version: version)
        case .originAsked(let read, let version):
            machines[index].phases[slot] = .idle
            if let read { record = (version, read) }
        case .epochRead(let read, let start, isFill: false):
            machines[index].phases[slot] = .idle
            guard let record, record.epoch == read else { return }
            served += 1
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
            // The load does not wait for it any longer.
            if !write.isApplied { late.append(write) }
            machines[index].phases[slot] = .originAsked(nil, version: version)
        default:
            machines[index].table.wrote(write.value, to: "e", from: write.start, to: now)
            machines[index].phases[slot] = .originAsked(machines[index].table.known("e"), version: version)
        }
    }

    /// A machine whose epoch counts now serves nothing from before its own unsafe requests.
    private mutating func checkOwn(_ index: Int, _ slot: Int) {
        guard case .epochRead(let read?, start: now, isFill: false) = machines[index].phases[slot],
            let record, record.epoch == read
        else { return }
        if record.version < machines[index].removed { ownViolations += 1 }
    }
}
