internal import ByteText
internal import CacheFoundation
internal import Crypto
package import HTTPCaching

/// Signs requests with Signature Version 4 of AWS, which S3 and compatible engines verify. Signs the authority and all
/// fields of the request. Add unsigned fields afterwards. A path is encoded once, as S3 requires, so pass the path as
/// sent.
package struct SignatureV4: Sendable {
    private let credentials: S3Credentials
    private let region: String
    private let service = "s3"

    package init(credentials: S3Credentials, region: String) {
        self.credentials = credentials
        self.region = region
    }

    /// Returns the value of `Authorization` for a request as sent without it. `payloadHash` is the SHA-256 of the
    /// content in hexadecimal digits. `time` is the time of signing, `yyyyMMddTHHmmssZ`, as in `x-amz-date`.
    package func authorization(for request: HTTPRequest, payloadHash: String, time: String) -> String {
        let date = String(time.prefix(8))
        let scope = "\(date)/\(region)/\(service)/aws4_request"
        let (canonical, signed) = canonicalRequest(request, payloadHash: payloadHash)
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(SHA256.hash(data: Data(canonical.utf8)).hexadecimal)"
        let signature = Self.mac(signingKey(date: date), text).hexadecimal
        return "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope), SignedHeaders=\(signed), "
            + "Signature=\(signature)"
    }

    /// Returns the key that signs the requests of a day.
    private func signingKey(date: String) -> SymmetricKey {
        let secret = SymmetricKey(data: Data("AWS4\(credentials.secretAccessKey)".utf8))
        return [date, region, service, "aws4_request"].reduce(secret) { SymmetricKey(data: Self.mac($0, $1)) }
    }

    /// Returns the canonical request, and the names of the signed fields.
    private func canonicalRequest(_ request: HTTPRequest, payloadHash: String) -> (text: String, signed: String) {
        let parts = (request.path ?? "/").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { pair in
            pair.contains("=") ? String(pair) : "\(pair)="
        }
        var fields = request.headerFields.map { ($0.name.canonicalName, Self.trimmed($0.value)) }
        fields.append(("host", request.authority ?? ""))
        fields.sort { $0.0 < $1.0 }
        let signed = fields.map(\.0).joined(separator: ";")
        let lines = fields.map { "\($0.0):\($0.1)\n" }.joined()
        let text =
            "\(request.method.rawValue)\n\(parts.first ?? "/")\n\(query.sorted().joined(separator: "&"))\n"
            + "\(lines)\n\(signed)\n\(payloadHash)"
        return (text, signed)
    }

    /// Returns a time as `yyyyMMddTHHmmssZ`.
    package static func text(of time: HTTPDate) -> String {
        Date(time).formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    }

    private static func mac(_ key: SymmetricKey, _ text: String) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
    }

    /// A canonical value has no outer whitespace, and single inner spaces.
    private static func trimmed(_ value: String) -> String {
        value.split(separator: " ").joined(separator: " ")
    }
}
