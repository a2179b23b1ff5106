import CacheLoader
import Testing

@Suite("FlightTable")
struct FlightTableTests {
    private var table = FlightTable<String, String, String>()

    private mutating func join(_ key: String, _ waiter: String) -> (ticket: UInt64, started: Bool) {
        let ticket = table.ticket()
        var started = false
        table.join(key, ticket, waiter) { number in
            started = true
            return "flight \(number)"
        }
        return (ticket, started)
    }

    @Test("E1: the first starts a flight, the others join it, and all are told in the order they came")
    mutating func joining() {
        let started = ["a", "b", "c"].map { join("key", $0).started }
        #expect(started == [true, false, false])
        #expect(table.land("key", 1) == ["a", "b", "c"])
    }

    @Test("Keys do not share flights")
    mutating func keys() {
        #expect(join("one", "a").started)
        #expect(join("two", "b").started)
        #expect(table.land("two", 2) == ["b"])
        #expect(table.land("one", 1) == ["a"])
    }

    @Test("Who comes after the landing starts anew")
    mutating func afterLanding() {
        _ = join("key", "a")
        #expect(table.land("key", 1) == ["a"])
        #expect(join("key", "b").started)
        #expect(table.land("key", 1).isEmpty, "the first flight has landed before")
        #expect(table.land("key", 2) == ["b"])
    }

    @Test("E4: who leaves is told at once; the others still wait")
    mutating func leaving() {
        let first = join("key", "a").ticket
        _ = join("key", "b")
        let (waiter, stop) = table.leave("key", first)
        #expect(waiter == "a")
        #expect(stop == nil)
        #expect(table.land("key", 1) == ["b"])
    }

    @Test("E5: the last to leave stops the flight, whose landing then finds nobody")
    mutating func stopping() {
        let ticket = join("key", "a").ticket
        let (waiter, stop) = table.leave("key", ticket)
        #expect(waiter == "a")
        #expect(stop == "flight 1")
        #expect(table.land("key", 1).isEmpty)
        #expect(join("key", "b").started, "a stopped flight takes nobody on")
    }

    @Test("E4: leaving twice, or before coming, tells nobody")
    mutating func leavingTwice() {
        let ticket = join("key", "a").ticket
        _ = join("key", "b")
        _ = table.leave("key", ticket)
        let again = table.leave("key", ticket)
        #expect(again.waiter == nil && again.stop == nil)
        let unknown = table.leave("other", 99)
        #expect(unknown.waiter == nil && unknown.stop == nil)
        #expect(table.land("key", 1) == ["b"])
    }
}
