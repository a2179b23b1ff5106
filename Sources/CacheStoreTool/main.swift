import CacheLoader
import Foundation
import HTTPTypes
import LoopbackOrigin
let big = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 1000) }
let origin = try await LoopbackOrigin { request in
    if request.path == "/weird" { return OriginReply(status: 200, fields: [.contentEncoding: "zstd"], body: Array("not zstd".utf8), delivery: .complete) }
    return OriginReply(status: 200, fields: [:], body: big, delivery: request.path == "/close" ? .closeDelimited : request.path == "/chunked" ? .chunked(bytes: 1000) : .complete)
}
let transport = URLSessionTransport()
for path in ["/close", "/chunked", "/close", "/close", "/big", "/close", "/weird", "/close", "/chunked", "/chunked", "/close"] {
    do {
    let before = origin.requestCount
    let response = try await transport.send(HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: path), body: nil)
    var all = Data()
    while let chunk = try await response.body.next() { all += chunk }
    print(path, all.count, all == Data(big), origin.requestCount - before, response.head.headerFields.map { "\($0)" })
    } catch { print(path, error) }
}
