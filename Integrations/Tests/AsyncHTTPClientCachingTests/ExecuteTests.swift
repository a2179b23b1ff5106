import AsyncHTTPClient
import AsyncHTTPClientCaching
import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import NIOCore
import NIOHTTP1
import Testing

@Suite("HTTPCache.execute: HTTPClient's execute with a cache", .timeLimit(.minutes(5)))
struct ExecuteTests {
    @Test("executes a request with a fresh response once, and keeps its bytes and field lines")
    func hit() async throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let fixture = try await ExecuteFixture { _ in
            var reply = OriginReply.ok(bytes, cacheControl: "max-age=60")
            reply.fields.append(HTTPField(name: .contentLanguage, value: "en"))
            reply.fields.append(HTTPField(name: .contentLanguage, value: "de"))
            return reply
        }
        for number in 0..<2 {
            let response = try await fixture.cache.execute(fixture.request("/a"), timeout: .seconds(60))
            #expect(response.status == .ok)
            #expect(response.version == .http1_1)
            #expect(response.headers["content-language"] == ["en", "de"])
            #expect((response.headers.first(name: "age") != nil) == (number == 1))
            #expect(response.history.count == 1)
            #expect(response.url?.absoluteString == fixture.origin.url("/a"))
            #expect(Array(buffer: try await response.body.collect(upTo: 1 << 20)) == bytes)
        }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("returns a response of an unsuccessful status, and throws instead of a generated response")
    func failures() async throws {
        let fixture = try await ExecuteFixture { _ in .status(.notFound) }
        let response = try await fixture.cache.execute(fixture.request("/a"), timeout: .seconds(60))
        #expect(response.status == .notFound)
        await fixture.origin.stop()
        await #expect(throws: LoadError.self) { _ = try await fixture.text(fixture.request("/b")) }
    }

    @Test("method, query and field lines of the request reach the origin")
    func requestHead() async throws {
        let fixture = try await ExecuteFixture { _ in .ok() }
        _ = try await fixture.text(fixture.request("/a?b=c%20d", .DELETE, ["X-A": "1", "X-B": "2", "x-a": "3"]))
        let request = try #require(fixture.origin.requests.first)
        #expect(request.method == .delete)
        #expect(request.path == "/a?b=c%20d")
        let name = try #require(HTTPField.Name("X-A"))
        #expect(request.fields[values: name] == ["1", "3"])
    }

    @Test("a body arrives while the origin sends it")
    func streamedResponse() async throws {
        let gate = Gate()
        let fixture = try await ExecuteFixture { _ in
            OriginReply.ok("onetwo".utf8, cacheControl: "max-age=60").delivered(
                .paced(bytes: 3) { index in if index == 1 { await gate.wait() } })
        }
        let response = try await fixture.cache.execute(fixture.request("/a"), timeout: .seconds(60))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next().map { String(buffer: $0) } == "one")
        gate.open()
        #expect(try await chunks.next().map { String(buffer: $0) } == "two")
        #expect(try await chunks.next() == nil)
        #expect(try await fixture.text(fixture.request("/a")) == "onetwo")
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("a truncated body throws after its last byte, and is not stored as a whole")
    func truncatedResponse() async throws {
        let fixture = try await ExecuteFixture { _ in
            OriginReply.ok("abcdef".utf8, cacheControl: "max-age=60").delivered(.declaring(length: 10))
        }
        let response = try await fixture.cache.execute(fixture.request("/a"), timeout: .seconds(60))
        var bytes = ""
        await #expect(throws: LoadError.self) {
            for try await chunk in response.body { bytes += String(buffer: chunk) }
        }
        #expect(bytes == "abcdef")
        await #expect(throws: LoadError.self) { _ = try await fixture.text(fixture.request("/a")) }
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("a response without trailers does not announce trailers")
    func trailers() async throws {
        let fixture = try await ExecuteFixture { _ in
            var reply = OriginReply.ok("a".utf8, cacheControl: "max-age=60")
            reply.fields[.trailer] = "Digest"
            return reply
        }
        for _ in 0..<2 {
            let response = try await fixture.cache.execute(fixture.request("/a"), timeout: .seconds(60))
            #expect(response.headers["trailer"].isEmpty)
            _ = try await response.body.collect(upTo: 10)
        }
    }

    @Test("throws CancellationError when the calling task is cancelled")
    func cancellation() async throws {
        let (arrived, gate) = (Gate(), Gate())
        let fixture = try await ExecuteFixture { _ in
            arrived.open()
            await gate.wait()
            return .ok()
        }
        let task = Task { try await fixture.cache.execute(fixture.request("/a"), deadline: .distantFuture) }
        await arrived.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        gate.open()
    }

    @Test("a deadline ends the wait for the head, but does not affect a hit")
    func deadline() async throws {
        let (arrived, gate, clock) = (Gate(), Gate(), ManualClock())
        let fixture = try await ExecuteFixture {
            $0.sleep = clock.sleep
        } reply: { request in
            if request.path == "/slow" {
                arrived.open()
                await gate.wait()
            }
            return .ok(cacheControl: "max-age=60")
        }
        let task = Task { try await fixture.cache.execute(fixture.request("/slow"), timeout: .hours(1)) }
        await arrived.wait()
        while clock.sleeperCount == 0 { await Task.yield() }
        clock.advance(by: .seconds(3_600))
        await #expect(throws: HTTPClientError.deadlineExceeded) { _ = try await task.value }
        gate.open()
        _ = try await fixture.cache.execute(fixture.request("/fast"), deadline: .distantFuture).body.collect(upTo: 1)
        let response = try await fixture.cache.execute(fixture.request("/fast"), deadline: .uptimeNanoseconds(0))
        #expect(response.status == .ok)
        await #expect(throws: HTTPClientError.deadlineExceeded) {
            _ = try await fixture.cache.execute(fixture.request("/other"), deadline: .uptimeNanoseconds(0))
        }
    }

    @Test("refuses a request whose response must not answer other requests")
    func refusals() async throws {
        let fixture = try await ExecuteFixture { _ in .ok() }
        var address = fixture.request("/a")
        address.localAddress = "127.0.0.1"
        for request in [address, fixture.request("/a", .GET, ["Host": "other.example"])] {
            let error = await #expect(throws: LoadError.self) { _ = try await fixture.text(request) }
            guard case .transport(let failure, _) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(failure.code == .unsupportedRequest)
        }
        #expect(try await fixture.text(fixture.request("/a", .GET, ["Host": fixture.origin.authority])) == "")
        #expect(fixture.origin.requestCount == 1)
    }
}
