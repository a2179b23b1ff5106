internal import RawStructuredFieldValues

/// The digests in `Content-Digest`, `Repr-Digest` or `Unencoded-Digest` that a cache verifies: SHA-256 and SHA-512 (RFC
/// 9530, draft-ietf-httpbis-unencoded-digest). RFC 9530 §5 advises against all other registered algorithms, so the
/// cache ignores them. Verifies every supported digest: verifying only one would make a message as weak as its weakest
/// digest (§6.6).
package struct IntegrityDigests: Hashable, Sendable {
    /// An integrity field, by its name in lower case.
    package enum Field: String, Hashable, Sendable {
        /// Covers the content of one message (RFC 9530 §2).
        case content = "content-digest"
        /// Covers the whole representation with its content coding (RFC 9530 §3).
        case representation = "repr-digest"
        /// Covers the whole representation without its content coding (draft-ietf-httpbis-unencoded-digest §3).
        case unencoded = "unencoded-digest"
    }

    package let field: Field
    /// The digest of the member `sha-256`, of any length.
    package let sha256: [UInt8]?
    /// The digest of the member `sha-512`, of any length.
    package let sha512: [UInt8]?

    /// Reads the digests of a field. Returns `nil` without a digest to verify. A field is a Dictionary of Byte
    /// Sequences. RFC 9651 §4.2: a malformed field counts as absent. A member of another type also counts as absent,
    /// and the other members stay. A digest of the wrong length fits no content.
    package init?(_ field: Field, in fields: HTTPFields) {
        guard let members = fields.structuredDictionary(named: field.rawValue) else { return nil }
        var digests: [[UInt8]?] = []
        for name in ["sha-256", "sha-512"] {
            guard let text = members[name]?.encodedBytes else {
                digests.append(nil)
                continue
            }
            guard let bytes = Base64.bytes(of: text) else { return nil }
            digests.append(bytes)
        }
        guard digests != [nil, nil] else { return nil }
        (sha256, sha512) = (digests[0], digests[1])
        self.field = field
    }
}

extension IntegrityDigests {
    /// Returns the digests to verify against the content of the message `reply`. `isBodyDecoded` tells whether the
    /// transport removed a content coding. Only `Unencoded-Digest` covers such bytes. Of `policy`, only
    /// ``CachePolicy/verifiesDigests`` matters.
    package static func ofContent(
        _ reply: HTTPResponse, to method: HTTPRequest.Method, isBodyDecoded: Bool, policy: CachePolicy
    ) -> [IntegrityDigests] {
        // RFC 9110 §9.3.2, §6.4.1: these messages have no content.
        guard policy.verifiesDigests, method != .head, ![204, 304].contains(reply.status.code) else { return [] }
        var fields: [Field] = isBodyDecoded ? [] : [.content]
        // RFC 9530 §3.1: in the response to a method that changes state, Repr-Digest may cover another representation.
        // §3: in a 206, Repr-Digest covers more than the content.
        if reply.status != .partialContent, method == .get || method == .query {
            fields += ofRepresentation(reply.headerFields, isBodyDecoded: isBodyDecoded)
        }
        return fields.compactMap { IntegrityDigests($0, in: reply.headerFields) }
    }

    /// Returns the digests to verify against a representation without its content codings. Empty for a representation
    /// without codings, because ``ofContent(_:to:isBodyDecoded:policy:)`` returns its digests.
    package static func ofDecoded(
        _ reply: HTTPResponse, to method: HTTPRequest.Method, policy: CachePolicy
    ) -> [IntegrityDigests] {
        guard policy.verifiesDigests, reply.status != .partialContent, method == .get || method == .query,
            !reply.headerFields.hasSameCoding(as: [:])
        else { return [] }
        return [IntegrityDigests(.unencoded, in: reply.headerFields)].compactMap(\.self)
    }

    /// Returns the fields that cover the bytes of a whole representation.
    private static func ofRepresentation(_ fields: HTTPFields, isBodyDecoded: Bool) -> [Field] {
        let encoded: [Field] = isBodyDecoded ? [] : [.representation]
        return fields.hasSameCoding(as: [:]) ? encoded + [.unencoded] : encoded
    }

    /// Returns the digests to verify against a representation combined from stored parts. The content of an interrupted
    /// 200 would have been the whole. `fields` are those of the combined response. Of `policy`, only
    /// ``CachePolicy/verifiesDigests`` matters.
    package static func ofWhole(
        _ fields: HTTPFields, combining parts: [StoredResponse], policy: CachePolicy
    ) -> [IntegrityDigests] {
        guard policy.verifiesDigests else { return [] }
        let interrupted = parts.filter { $0.status == .ok && !$0.isBodyDecoded }
        let whole = ofRepresentation(fields, isBodyDecoded: false).map { IntegrityDigests($0, in: fields) }
        return (interrupted.map { IntegrityDigests(.content, in: $0.fields) } + whole).compactMap(\.self)
    }
}

extension ItemOrInnerList {
    /// The base64 of a Byte Sequence, or `nil` for any other member.
    fileprivate var encodedBytes: String? {
        guard case .undecodedByteSequence(let text) = bareItem else { return nil }
        return text
    }
}
