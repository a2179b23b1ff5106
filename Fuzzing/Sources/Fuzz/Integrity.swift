import Crypto
import Foundation
import HTTPTypes

@testable import CacheLoader
@testable import HTTPCaching

/// `Content-Digest` and `Repr-Digest` (RFC 9530): a flag, lines of the field, an empty line, content.
///
/// Rules: a parsed field, written again, gives the same digests. Content passes if and only if it has all digests.
@Sendable func fuzzIntegrity(_ input: inout FuzzInput) {
    let flag = input.byte()
    let name: IntegrityDigests.Field = flag & 1 == 0 ? .content : .representation
    var fields = input.lines(of: name.rawValue)
    let content = input.all()
    let sha256 = Array(SHA256.hash(data: content))
    let sha512 = Array(SHA512.hash(data: content))
    // The mutator cannot find a digest of the content by itself.
    if flag & 2 != 0 { fields += HTTPFields(name.rawValue, "sha-256=\(text(sha256))") }
    if flag & 4 != 0 { fields += HTTPFields(name.rawValue, "sha-512=\(text(sha512))") }
    guard let digests = IntegrityDigests(name, in: fields) else { return }

    let members = [("sha-256", digests.sha256), ("sha-512", digests.sha512)].compactMap { name, bytes in
        bytes.map { "\(name)=\(text($0))" }
    }
    let written = HTTPFields(name.rawValue, members.joined(separator: ", "))
    // A longer field may exceed the limit once padded.
    if members.joined().utf8.count < 32_000 {
        check(IntegrityDigests(name, in: written) == digests, "a written field reads the same")
    }

    guard var digestCheck = DigestCheck([digests], isStored: false) else { fatalError("digests to compare") }
    let middle = content.count * Int(flag) / 256
    digestCheck.update(content.prefix(middle))
    digestCheck.update(content.dropFirst(middle))
    let isEqual = digests.sha256.map { $0 == sha256 } ?? true && digests.sha512.map { $0 == sha512 } ?? true
    check((digestCheck.mismatch() == nil) == isEqual, "content passes if it has all digests")
}

private func text(_ bytes: [UInt8]) -> String { ":\(Data(bytes).base64EncodedString()):" }
