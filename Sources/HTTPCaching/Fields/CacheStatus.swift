package import HTTPTypes
internal import RawStructuredFieldValues

/// What this cache did with a request, as it says in `Cache-Status` (RFC 9211).
///
/// It belongs to one delivery of a response and is never stored with it. RFC 9211 §2: a response that the cache made up
/// itself, such as the 504 to `only-if-cached`, gets none.
package struct CacheStatus: Hashable, Sendable {
    /// Why the request went to the origin; `nil` when a stored response answered without it.
    package var forward: ForwardReason?
    /// The status that the origin replied with, where it is not that of the response; only when it was asked.
    package var forwardStatus: Int?
    /// For how many seconds the response stays fresh; negative once it is stale.
    package var ttl: Int64?
    /// Whether the response was stored; only when the origin was asked.
    package var stored: Bool?
    /// Whether the request shared the origin's reply with others; `false` when it was meant to and could not; only when the
    /// origin was asked.
    package var collapsed: Bool?
    /// What the response is stored under.
    package var key: String?
    /// Anything else that helps the one who debugs.
    package var detail: String?

    /// The longest text that is written, in bytes; a longer ``key`` or ``detail`` is left out.
    package static let maxTextByteCount = 1024

    private init(forward: ForwardReason?, ttl: Int64?, key: String?, detail: String?) {
        self.forward = forward
        self.ttl = ttl
        self.key = key
        self.detail = detail
    }

    /// A stored response answered.
    package static func hit(ttl: Int64? = nil, key: String? = nil, detail: String? = nil) -> CacheStatus {
        CacheStatus(forward: nil, ttl: ttl, key: key, detail: detail)
    }

    /// The origin was asked.
    package static func forward(
        _ reason: ForwardReason, status: Int? = nil, ttl: Int64? = nil, stored: Bool? = nil, collapsed: Bool? = nil,
        key: String? = nil, detail: String? = nil
    ) -> CacheStatus {
        var value = CacheStatus(forward: reason, ttl: ttl, key: key, detail: detail)
        value.forwardStatus = status
        value.stored = stored
        value.collapsed = collapsed
        return value
    }

    /// Whether a stored response answered without the origin being asked.
    package var hit: Bool { forward == nil }
}

// MARK: - Writing

extension CacheStatus {
    /// The member of the list that stands for the cache called `name`.
    package func member(name: String) -> String {
        var parameters = OrderedMap<String, RFC9651BareItem>()
        // RFC 9211 §2.2: "hit" and "fwd" exclude each other, and §2.3, §2.5, §2.6 mean something only beside "fwd".
        if let forward {
            parameters["fwd"] = .token(forward.rawValue)
            parameters["fwd-status"] = forwardStatus.map { .integer(Self.integer(Int64($0))) }
        } else {
            parameters["hit"] = true
        }
        parameters["ttl"] = ttl.map { .integer(Self.integer($0)) }
        if forward != nil {
            parameters["stored"] = stored.map { .bool($0) }
            parameters["collapsed"] = collapsed.map { .bool($0) }
        }
        parameters["key"] = key.flatMap(Self.printable).map { .string($0) }
        parameters["detail"] = detail.flatMap(Self.printable).map(Self.tokenOrString)

        let name = Self.printable(name) ?? "cache"
        let item = Item(bareItem: Self.tokenOrString(name), parameters: parameters)
        var serializer = StructuredFieldValueSerializer()
        // It throws on nothing that is left now; the name alone would be a valid member, too.
        let bytes = (try? serializer.writeItemFieldValue(item)) ?? Array("cache".utf8)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Adds the member of the cache called `name` behind those of the caches nearer to the origin.
    ///
    /// RFC 9211 §2: what they wrote stays to the letter, malformed or not; so the member gets a line of its own.
    package func append(to fields: inout HTTPFields, name: String) {
        guard let fieldName = Self.fieldName else { return }
        fields.append(HTTPField(name: fieldName, value: member(name: name)))
    }

    private static let fieldName = HTTPField.Name("Cache-Status")

    /// RFC 9651 §3.3.1: an Integer has at most fifteen digits.
    private static func integer(_ number: Int64) -> Int64 {
        min(max(number, -999_999_999_999_999), 999_999_999_999_999)
    }

    private static func tokenOrString(_ text: String) -> RFC9651BareItem {
        text.structuredHeadersIsValidToken ? .token(text) : .string(text)
    }

    /// The text with every byte percent-encoded that a String cannot hold (RFC 9651 §3.3.3); `nil` when it is too long.
    private static func printable(_ text: String) -> String? {
        guard text.utf8.count <= maxTextByteCount else { return nil }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if (0x20...0x7E).contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return bytes.count <= maxTextByteCount ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
