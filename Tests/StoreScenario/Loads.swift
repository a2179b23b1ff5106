import CacheStore
import FaultModel
import Foundation

/// Loads keys beside other processes that load the same ones.
struct Loads {
    private let store: ResponseStore
    private let journal: Journal

    init(_ options: ScenarioOptions, _ journal: Journal) throws {
        store = try ResponseStore(
            directory: URL(filePath: options.directory), configuration: options.configuration)
        self.journal = journal
    }

    /// Claims a key for as long as the program lives: until it is killed, or who started it is gone.
    func hold(_ key: String) throws {
        let parent = getppid()
        guard let claim = try store.claim(CacheKey(name: key)) else { return journal.note("refused") }
        journal.note("claimed")
        // A busy machine may take its time to come to the kill.
        alarm(0)
        withExtendedLifetime(claim) { while getppid() == parent { sleep(1) } }
    }

    /// Stores each key unless somebody else is faster.
    func load(_ keys: [String]) throws {
        for name in keys {
            let key = try CacheKey(name: name)
            var claim = try store.claim(key)
            while claim == nil {
                sched_yield()
                claim = try store.claim(key)
            }
            if try !store.contains(key) {
                journal.note(name)
                let metadata = EntryMetadata(requestedAt: Date(), receivedAt: Date())
                try store.insert(Data(name.utf8), metadata: metadata, for: key)
            }
            claim?.release()
        }
        store.close()
    }
}
