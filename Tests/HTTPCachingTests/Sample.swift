import TestSupport

/// The building blocks of these suites' tables. Times are seconds from the Sunday in 1994 that RFC 9110 uses.
enum Sample {
    static func time(_ seconds: Int64 = 0) -> HTTPDate {
        HTTPDate(secondsSince1970: 784_111_777).advanced(by: seconds)
    }

    /// Fields from lines such as `Age: 5`.
    static func fields(_ lines: [String]) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
                preconditionFailure("\(line) is no field line")
            }
            // The notation puts one space after the colon; further spaces belong to the value.
            fields.append(field(name, String(parts[1].hasPrefix(" ") ? parts[1].dropFirst() : parts[1])))
        }
        return fields
    }

    static func field(_ name: HTTPField.Name, _ value: String) -> HTTPField {
        HTTPField(name: name, lenientValue: Array(value.utf8))
    }

    static func request(
        _ lines: String..., method: HTTPRequest.Method = .get, scheme: String = "https"
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: scheme, authority: "example.com", path: "/", headerFields: fields(lines))
    }

    /// A response requested and received at `received`. By default, its `Date` is `received`, too.
    static func stored(
        _ lines: String..., status: HTTPResponse.Status = .ok, requested: Int64? = nil, received: Int64 = 0,
        for request: HTTPRequest = request(), hasIntactBody: Bool = true, isBodyDecoded: Bool = false
    ) -> StoredResponse {
        var fields = fields(lines)
        if !fields.contains(.date) { fields[.date] = time(received).description }
        guard let varyKey = VaryKey(response: fields, request: request, fingerprint: fingerprint) else {
            preconditionFailure("a response with Vary: * is found for no request")
        }
        return StoredResponse(
            status: status, fields: fields, requestTime: time(requested ?? received), responseTime: time(received),
            varyKey: varyKey, hasIntactBody: hasIntactBody, isBodyDecoded: isBodyDecoded)
    }

    /// A reply that arrived at `received`.
    static func exchange(
        _ lines: String..., status: HTTPResponse.Status = .ok, to request: HTTPRequest = request(),
        requested: Int64? = nil, received: Int64 = 0, isBodyDecoded: Bool = false
    ) -> Exchange {
        Exchange(
            request: request, reply: HTTPResponse(status: status, headerFields: fields(lines)),
            requestTime: time(requested ?? received), responseTime: time(received), isBodyDecoded: isBodyDecoded)
    }

    static func fingerprint(name: String, value: String) -> String {
        let hash = "\(name)\n\(value)".utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return String(hash, radix: 16)
    }

    static func decide(
        _ request: HTTPRequest = request(), _ candidates: StoredResponse..., policy: CachePolicy = CachePolicy(),
        at seconds: Int64 = 0
    ) -> ReuseDecision.Action {
        ReuseDecision(
            for: request, candidates: candidates, policy: policy, now: time(seconds), fingerprint: fingerprint
        ).action
    }

    static func decide(
        on exchange: Exchange, _ candidates: StoredResponse..., validated: Int? = nil, original: HTTPRequest? = nil,
        policy: CachePolicy = CachePolicy()
    ) -> ReplyDecision.Action {
        decision(on: exchange, candidates, validated: validated, original: original, policy: policy).action
    }

    static func decision(
        on exchange: Exchange, _ candidates: [StoredResponse], validated: Int? = nil, original: HTTPRequest? = nil,
        policy: CachePolicy = CachePolicy()
    ) -> ReplyDecision {
        var unconditional = exchange.request
        if validated != nil {
            for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince] { unconditional.headerFields[name] = nil }
        }
        return ReplyDecision(
            for: exchange, original: original ?? unconditional, candidates: candidates,
            question: validated.map { .validation($0) } ?? .none, policy: policy, fingerprint: fingerprint)
    }
}

/// The values of the lines of a `Cache-Control` or a targeted field, and its directives. `nil` for an ignored field.
struct ControlCase: Sendable, CustomTestStringConvertible {
    let lines: [String]
    let expected: CacheControl?

    /// The lines, the directives without an argument, and the others.
    init(
        _ lines: String..., is flags: [WritableKeyPath<CacheControl, Bool>] = [],
        expect build: (inout CacheControl) -> Void = { _ in }
    ) {
        self.lines = lines
        var expected = CacheControl()
        for flag in flags { expected[keyPath: flag] = true }
        build(&expected)
        self.expected = expected
    }

    init(ignored lines: String...) { (self.lines, expected) = (lines, nil) }

    var testDescription: String { lines.joined(separator: " | ") }

    func fields(_ name: String) -> HTTPFields { Sample.fields(lines.map { "\(name): \($0)" }) }
}

extension ReplyDecision.Action {
    /// The response to store, if this action stores one.
    var stored: StoredResponse? { if case .store(let response) = self { response } else { nil } }
}

/// A summary of a decision, for tables that need no details.
enum Outcome: Hashable {
    case hit
    case staleHit
    case revalidatedHit
    case resume
    case validate
    case forward
    case unsatisfiable

    init(_ decision: ReuseDecision.Action) {
        self =
            switch decision {
            case .hit(_, _, let isStale): isStale ? .staleHit : .hit
            case .hitWhileRevalidating: .revalidatedHit
            case .validate: .validate
            case .resume: .resume
            case .forward: .forward
            case .unsatisfiable: .unsatisfiable
            }
    }
}
