import CacheStore
import FaultModel
import Foundation

/// Holds the write lock of a store that other processes use.
enum WriteLockHolder {
    /// Holds the write lock until the program is killed or its parent ends.
    static func hold(_ options: ScenarioOptions, _ journal: Journal) throws {
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
    static func retake(_ options: ScenarioOptions, _ journal: Journal) throws {
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
}
