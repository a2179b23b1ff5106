import Foundation
import HTTPTypes

@testable import CacheLoader
@testable import CacheStore
@testable import CacheTransport
@testable import HTTPCaching

/// The head of a response, line by line.
///
/// Rules: an accepted head, written and read, is the same. It declares at most one length. Its bytes stay below the
/// limit.
@Sendable func fuzzHeads(_ input: inout FuzzInput) {
    let limit = 4_096
    var reader = ResponseHeadReader(maxByteCount: limit)
    for line in input.all().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        let event: ResponseHeadReader.Event
        do {
            event = try (Array(line) + [UInt8(ascii: "\n")]).withUnsafeBytes { try reader.append($0) }
        } catch {
            return
        }
        check(reader.byteCount <= limit, "the limit holds")
        switch event {
        case .none: continue
        case .interim(let head): check(head.status.code < 200, "an interim response has an interim status")
        case .final(let head):
            check(head.headerFields[fields: .contentLength].count <= 1, "a length is one line")
            check(readAgain(head) == head, "a written head reads the same")
        }
    }
}

private func readAgain(_ head: HTTPResponse) -> HTTPResponse? {
    var lines = [Array("HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n".utf8)]
    for field in head.headerFields {
        field.withUnsafeBytesOfValue { lines.append(Array("\(field.name.rawName): ".utf8) + $0 + Array("\r\n".utf8)) }
    }
    lines.append(Array("\r\n".utf8))
    var reader = ResponseHeadReader(maxByteCount: .max)
    for line in lines {
        let event = try? line.withUnsafeBytes { try reader.append($0) }
        if case .final(let again) = event { return again }
    }
    return nil
}

/// A URL, then the `Location` of a response to a request for it.
///
/// Rules: a key, written and read, is the same, and names a host. The target of a redirect is printable ASCII, and a
/// redirect to it leads to its host. A message has no password.
@Sendable func fuzzRedirects(_ input: inout FuzzInput) {
    let url = input.text()
    check(!CacheKey.withoutCredentials("http://u:secret@\(url)").hasPrefix("http://u:secret@"), "no password is shown")
    guard let key = try? CacheKey.loading(url, partition: "") else { return }
    check((try? CacheKey.loading(key.text, partition: "")) == key, "a written key reads the same")
    check(key.host?.isEmpty == false, "a key of a URL has a host")
    var response = HTTPResponse(status: .found)
    response.headerFields = input.lines(of: "location")
    guard let target = Redirection.target(of: response, from: key.text) else { return }
    guard let next = try? CacheKey.loading(target, partition: "") else { return }
    check(next.text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a key is printable ASCII")
    response.headerFields = [.location: next.text]
    let again = Redirection.target(of: response, from: key.text).flatMap { try? CacheKey.loading($0, partition: "") }
    // Dot segments of a target are removed once.
    check(again?.host == next.host, "a redirect to a key leads to its host")
}
