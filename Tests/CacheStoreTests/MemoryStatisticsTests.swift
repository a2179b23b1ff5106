import CSQLite
import TestSupport

/// Each test runs in a separate process: the configuration applies to the whole process.
@Suite("SQLite's memory statistics")
struct MemoryStatisticsTests {
    @Test("are off if the program disables them before it opens a store")
    func off() async {
        await #expect(processExitsWith: .success) {
            precondition(ResponseStore.disableSQLiteMemoryStatistics())
            let sandbox = Sandbox()
            let store = try sandbox.open()
            try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
            precondition(sqlite3_memory_used() == 0)
            precondition(!ResponseStore.disableSQLiteMemoryStatistics())
        }
    }

    @Test("follow the build of the library otherwise")
    func untouched() async {
        await #expect(processExitsWith: .success) {
            let sandbox = Sandbox()
            let store = try sandbox.open()
            precondition(!ResponseStore.disableSQLiteMemoryStatistics())
            let counts = sqlite3_compileoption_used("DEFAULT_MEMSTATUS=0") == 0
            precondition((sqlite3_memory_used() > 0) == counts)
            store.close()
        }
    }
}
