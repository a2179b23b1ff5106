#if !canImport(Darwin)
import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// HTTP/2 that violates RFC 9113, from a hand-written origin.
@Suite("CurlTransport: faulty HTTP/2", .enabled(if: ServerProcess.pythonPath != "")) struct FaultyHTTP2Tests {
    /// Sends two requests to an origin. Returns the results, and the statuses of the interim responses.
    private func ask(_ answer: String) async throws -> ([Result<String, TransportError>], [Int]) {
        let directory = try TemporaryDirectory()
        let files = [("certificate", TestCertificates.server), ("key", TestCertificates.serverKey)].map { name, text in
            let file = directory.url.appending(path: name)
            try? text.write(to: file, atomically: true, encoding: .utf8)
            return file.path(percentEncoded: false)
        }
        let port = ServerProcess.freePort()
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "faulty_http2_origin.py")
        let request = HTTPRequest(method: .get, scheme: "https", authority: "127.0.0.1:\(port)", path: "/")
        var configuration = CurlTransport.Configuration()
        configuration.hostsWithAnyCertificate = ["127.0.0.1"]
        configuration.idleTimeout = .seconds(600)
        let transport = CurlTransport(configuration: configuration)
        let process = try await ServerProcess(
            ServerProcess.pythonPath, [script.path(percentEncoded: false), "\(port)"] + files + [answer], in: directory
        ) {
            let error = await outcome { try await transport.send(request, content: nil) }
            return error?.code != .cannotConnect
        }
        defer { withExtendedLifetime(process) {} }
        let interim = Mutex<[Int]>([])
        var results: [Result<String, TransportError>] = []
        for _ in 0..<2 {
            do throws(TransportError) {
                let response = try await transport.send(request, content: nil) { head in
                    interim.withLock { $0.append(head.status.code) }
                }
                results.append(await response.body.read().map { String(decoding: $0, as: UTF8.self) })
            } catch {
                results.append(.failure(error))
            }
        }
        return (results, interim.withLock { $0 })
    }

    @Test("Trailer fields are dropped, and interim responses delivered", arguments: ["whole", "trailers", "interim"])
    func sound(answer: String) async throws {
        let (results, interim) = try await ask(answer)
        #expect(results == [.success("body"), .success("body")])
        #expect(interim == (answer == "interim" ? [103, 103] : []))
    }

    @Test(
        "An error of the connection or of the stream reaches its exchange immediately",
        arguments: [
            "status=-5", "status=99", "status=", "status=000", "status=2x0", "status=1000", "no-status", "upper-case",
            "interim-ends", "bad-hpack", "bad-index", "push", "data-first", "other-stream", "reset", "goaway", "closed",
            "endless-head", "garbage",
        ])
    func faultyHead(answer: String) async throws {
        for result in try await ask(answer).0 {
            #expect(throws: TransportError.self, "\(answer): \(result)") { try result.get() }
            guard case .failure(let error) = result else { continue }
            #expect([.malformedResponse, .connectionLost].contains(error.code), "\(answer): \(error)")
        }
    }

    @Test(
        "A body that its stream or its connection does not complete is truncated",
        arguments: ["reset-in-body", "goaway-in-body", "closed-in-body", "short", "long", "large-frame"])
    func faultyBody(answer: String) async throws {
        for result in try await ask(answer).0 {
            #expect(throws: TransportError.self, "\(answer): \(result)") { try result.get() }
        }
    }
}
#endif
