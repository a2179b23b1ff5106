import CacheLoader
import TestSupport
import Testing

@Suite("InFlightRequests")
struct InFlightRequestsTests {
    private var table = InFlightRequests<String, String, String>()

    private mutating func join(_ key: String, _ waiter: String) -> (ticket: UInt64, started: Bool) {
        let ticket = table.ticket()
        var started = false
        table.join(key, ticket, waiter) { number in
            started = true
            return "request \(number)"
        }
        return (ticket, started)
    }

    @Test(
        "The first caller starts a request, later callers join it, and all get its result in order of arrival",
        .requirement("E1"))
    mutating func joining() {
        let started = ["a", "b", "c"].map { join("key", $0).started }
        #expect(started == [true, false, false])
        #expect(table.end("key", 1) == ["a", "b", "c"])
    }

    @Test("Different keys share no request")
    mutating func keys() {
        #expect(join("one", "a").started)
        #expect(join("two", "b").started)
        #expect(table.end("two", 2) == ["b"])
        #expect(table.end("one", 1) == ["a"])
    }

    @Test("A caller after the end starts a new request")
    mutating func afterLanding() {
        _ = join("key", "a")
        #expect(table.end("key", 1) == ["a"])
        #expect(join("key", "b").started)
        #expect(table.end("key", 1).isEmpty, "the first request has ended")
        #expect(table.end("key", 2) == ["b"])
    }

    @Test("A caller that leaves gets its result immediately; the others still wait", .requirement("E4"))
    mutating func leaving() {
        let first = join("key", "a").ticket
        _ = join("key", "b")
        let (waiter, stop) = table.leave("key", first)
        #expect(waiter == "a")
        #expect(stop == nil)
        #expect(table.end("key", 1) == ["b"])
    }

    @Test("The last caller that leaves stops the request, which then ends without waiters", .requirement("E5"))
    mutating func stopping() {
        let ticket = join("key", "a").ticket
        let (waiter, stop) = table.leave("key", ticket)
        #expect(waiter == "a")
        #expect(stop == "request 1")
        #expect(table.end("key", 1).isEmpty)
        #expect(join("key", "b").started, "a stopped request accepts no waiters")
    }

    @Test("Leaving twice, or before joining, has no effect", .requirement("E4"))
    mutating func leavingTwice() {
        let ticket = join("key", "a").ticket
        _ = join("key", "b")
        _ = table.leave("key", ticket)
        let again = table.leave("key", ticket)
        #expect(again.waiter == nil)
        #expect(again.stop == nil)
        let unknown = table.leave("other", 99)
        #expect(unknown.waiter == nil)
        #expect(unknown.stop == nil)
        #expect(table.end("key", 1) == ["b"])
    }
}
