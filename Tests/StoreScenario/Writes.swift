import CacheStore
import FaultModel
import Foundation
import Synchronization

/// Writes to a store concurrently with other processes.
struct Writes {
    private let store: ResponseStore
    private let journal: Journal

    init(_ options: ScenarioOptions, _ journal: Journal) throws {
        store = try ResponseStore(directory: URL(filePath: options.directory), configuration: options.configuration)
        self.journal = journal
    }

    /// Holds the write lock until the program is killed or its parent ends.
    static func holdLock(_ options: ScenarioOptions, _ journal: Journal) throws {
        let parent = getppid()
        let lock = WriteLock(root: try FileDescriptor.openDirectory(atPath: options.directory))
        guard lock.take(within: .seconds(100)) else { throw Failure("the write lock is not free") }
        journal.note("taken")
        // Long enough for a busy machine to kill the program.
        alarm(0)
        while getppid() == parent { sleep(1) }
        lock.release()
    }

    /// Holds the write lock for a millisecond each time, like consecutive long transactions, until the program is
    /// killed or its parent ends.
    static func retakeLock(_ options: ScenarioOptions, _ journal: Journal) throws {
        let parent = getppid()
        let lock = WriteLock(root: try FileDescriptor.openDirectory(atPath: options.directory))
        var count = 0
        while getppid() == parent {
            guard lock.take(within: .seconds(60)) else { throw Failure("the write lock is not free") }
            usleep(1_000)
            lock.release()
            count += 1
            if count.isMultiple(of: 10) { journal.note("\(count)") }
        }
    }

    /// Stores bodies from four threads without a pause: one transaction follows another.
    func fill(for seconds: Double) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        let count = Atomic(0)
        let failure = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            do {
                while ContinuousClock.now < end {
                    let number = count.add(1, ordering: .relaxed).newValue
                    try insert("fill \(number % 500)", seed: UInt64(number))
                }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        store.close()
        journal.note("\(count.load(ordering: .relaxed))")
    }

    /// Stores bodies one at a time, like a process that loads occasionally.
    func put(_ count: Int) throws {
        for number in 0..<count {
            // A random pause keeps the processes out of step.
            usleep(useconds_t.random(in: 0...4_000))
            let start = ContinuousClock.now
            try insert("put \(number % 500)", seed: UInt64(number) + 1_000_000)
            journal.note("\(Int((ContinuousClock.now - start) / .microseconds(1)))")
        }
        store.close()
    }

    private func insert(_ name: String, seed: UInt64) throws {
        let metadata = EntryMetadata(requestedAt: Date(), receivedAt: Date())
        try store.insert(Data.noise(16_384, seed: seed), metadata: metadata, for: CacheKey(name: name))
    }
}
