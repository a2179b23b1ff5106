import CacheLoader
import Foundation
import HTTPTypes
import LoopbackOrigin

/// The bodies of the origin of `Scripts/tier-lab`: a line with path, language and version, repeated up to a length.
///
/// A misplaced byte of another URL, variant or version is therefore found at any offset.
enum Body {
    /// Returns the first deviation of a response from the origin's bytes, or `nil`.
    static func deviation(_ data: Data, _ fields: HTTPFields, of request: HTTPRequest) -> String? {
        let target = Target(request)
        guard data.count == target.size else { return "\(data.count) bytes instead of \(target.size)" }
        let version = HTTPField.Name("X-Version").flatMap { fields[$0] } ?? ""
        let line = line(target, language: request.headerFields[.acceptLanguage] ?? "", version: version)
        guard data.starts(with: line.prefix(data.count)) else {
            return "begins with \(String(decoding: data.prefix(80), as: UTF8.self))"
        }
        guard data.count > line.count else { return nil }
        let isRepeated = data.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return memcmp(start, start + line.count, bytes.count - line.count) == 0
        }
        return isRepeated ? nil : "another line in the middle"
    }

    fileprivate static func line(_ target: Target, language: String, version: String) -> Data {
        Data("\(target.name) \(target.varies ? language : "") \(version)\n".utf8)
    }

    fileprivate static func bytes(_ target: Target) -> Data {
        let line = line(target, language: "", version: "1")
        var bytes = Data(capacity: target.size + line.count)
        while bytes.count < target.size { bytes += line }
        return bytes.prefix(target.size)
    }

    /// The parts of `/name?size=…&delay=…&vary=…`.
    fileprivate struct Target {
        var name = ""
        var size = 0
        var delay = 0
        var varies = false

        init(_ request: HTTPRequest) {
            let parts = (request.path ?? "").split(separator: "?", maxSplits: 1)
            name = parts.first.map(String.init) ?? ""
            for pair in parts.dropFirst().first?.split(separator: "&") ?? [] {
                let sides = pair.split(separator: "=")
                guard sides.count == 2, let value = Int(sides[1]) else { continue }
                switch sides[0] {
                case "size": size = value
                case "delay": delay = value
                case "vary": varies = value != 0
                default: break
                }
            }
        }
    }
}

/// Answers like the origin, without a network.
struct OriginInside: HTTPTransport {
    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        let target = Body.Target(request)
        try? await Task.sleep(for: .milliseconds(target.delay))
        var fields: HTTPFields = [.cacheControl: "max-age=86400", .date: OriginDate.now()]
        fields[.contentLength] = "\(target.size)"
        if let name = HTTPField.Name("X-Version") { fields[name] = "1" }
        return TransportResponse(
            head: HTTPResponse(status: .ok, headerFields: fields), body: TransportBody(Body.bytes(target)))
    }
}
