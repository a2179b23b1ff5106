import CacheStore
import FaultModel
import Foundation

/// Loads keys concurrently with other processes that load the same keys.
struct Loads {
    private let store: ResponseStore
    private let journal: Journal

    init(_ options: ScenarioOptions, _ journal: Journal) throws {
        store = try ResponseStore(directory: URL(filePath: options.directory), configuration: options.configuration)
        self.journal = journal
    }

    /// Locks a key until the program is killed or its parent ends.
    func hold(_ key: String) throws {
        let parent = getppid()
        guard let lock = try store.keyLocks.tryLock(CacheKey(name: key)).lock else { return journal.note("refused") }
        journal.note("locked")
        // Long enough for a busy machine to kill the program.
        alarm(0)
        withExtendedLifetime(lock) { while getppid() == parent { sleep(1) } }
    }

    /// Stores each key unless another process is faster.
    func load(_ keys: [String]) throws {
        for name in keys {
            let key = try CacheKey(name: name)
            var lock = try store.keyLocks.tryLock(key).lock
            while lock == nil {
                sched_yield()
                lock = try store.keyLocks.tryLock(key).lock
            }
            if try !store.contains(key) {
                journal.note(name)
                let metadata = EntryMetadata(requestedAt: Date(), receivedAt: Date())
                try store.insert(Data(name.utf8), metadata: metadata, for: key)
            }
            lock?.release()
        }
        store.close()
    }
}
