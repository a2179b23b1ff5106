import ArgumentParser
import Foundation
import Samples

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Foundation's URLCache, in its own process because it may crash. Reads commands, and answers each with microseconds
/// per operation.
struct URLCachePeer: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "urlcache", shouldDisplay: false)

    @Argument var directory: String

    func run() throws {
        let cache = open()
        var filled = 0
        while let line = readLine() {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { Int($0) }
            let answer: Double
            switch words.first {
            case "fill":
                filled = numbers[0]
                answer = try time(0..<filled) { try put($0, numbers[1], into: cache) }
            case "put":
                // Each put has a new number: URLCache crashes when it replaces a response.
                let first = 10_000_000 + numbers[0]
                answer = try time(first..<first + numbers[1]) { try put($0, numbers[2], into: cache) }
            case "get":
                answer = try time(numbers[0]..<numbers[0] + numbers[1]) { number in
                    guard let response = try cache.cachedResponse(for: request(Reading.spread(number, over: filled)))
                    else { throw LineProcess.Ended(description: "a miss") }
                    blackHole(response.data.count)
                }
            case "open": answer = time(0..<numbers[0]) { _ in blackHole(open().currentDiskUsage) }
            default: throw ValidationError(line)
            }
            print(answer)
            fflush(nil)
        }
    }

    private func open() -> URLCache {
        URLCache(memoryCapacity: 0, diskCapacity: 1 << 40, diskPath: directory)
    }

    private func request(_ number: Int) throws -> URLRequest {
        guard let url = URL(string: Sample.url(number)) else { throw LineProcess.Ended(description: "no URL") }
        return URLRequest(url: url)
    }

    private func put(_ number: Int, _ byteCount: Int, into cache: URLCache) throws {
        let request = try request(number)
        let fields = ["Content-Type": "image/jpeg", "Cache-Control": "public, max-age=31536000"]
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        else { throw LineProcess.Ended(description: "no response") }
        let body = Sample.body(number, Sample.Size(rawValue: byteCount) ?? .kib16)
        cache.storeCachedResponse(
            CachedURLResponse(response: response, data: body, storagePolicy: .allowed), for: request)
    }

    /// Returns microseconds per operation.
    private func time(_ range: Range<Int>, _ work: (Int) throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        for number in range { try work(number) }
        return (ContinuousClock.now - start) / .microseconds(1) / Double(max(1, range.count))
    }
}
