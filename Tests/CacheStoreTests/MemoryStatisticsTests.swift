import CSQLite
import CacheStore
import Foundation
import TestSupport
import Testing

/// In a process of its own each: the configuration is that of the whole process.
@Suite("SQLite's memory statistics")
struct MemoryStatisticsTests {
    @Test("are off when a program has turned them off first thing")
    func off() async {
        await #expect(processExitsWith: .success) {
            precondition(ResponseStore.disableSQLiteMemoryStatistics())
            let sandbox = try Sandbox()
            let store = try sandbox.open()
            try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
            precondition(sqlite3_memory_used() == 0)
            precondition(!ResponseStore.disableSQLiteMemoryStatistics())
        }
    }

    @Test("are what the library was built with, if nobody has")
    func untouched() async {
        await #expect(processExitsWith: .success) {
            let sandbox = try Sandbox()
            let store = try sandbox.open()
            precondition(!ResponseStore.disableSQLiteMemoryStatistics())
            let counts = sqlite3_compileoption_used("DEFAULT_MEMSTATUS=0") == 0
            precondition((sqlite3_memory_used() > 0) == counts)
            store.close()
        }
    }
}
