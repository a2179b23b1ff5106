internal import CacheFoundation
public import CacheLoader
internal import Synchronization

extension S3Credentials {
    /// Returns a provider that searches where the SDKs of AWS do: the environment, the shared credentials file, the
    /// endpoint of the container, and that of the instance (IMDSv2).
    ///
    /// Keeps temporary credentials until five minutes before their end, and credentials from a file for a minute, so
    /// that a rotation needs no restart.
    ///
    /// - Parameters:
    ///   - environment: The variables, such as `ProcessInfo.processInfo.environment`. Empty variables count as absent.
    ///   - transport: Carries the requests to the endpoints of container and instance.
    public static func standard(environment: [String: String], transport: any HTTPTransport) -> Provider {
        let chain = CredentialsChain(environment.filter { !$0.value.isEmpty }, transport)
        return { try await chain.credentials() }
    }
}

/// The places where credentials may be.
private final class CredentialsChain: Sendable {
    private struct Kept {
        let credentials: S3Credentials
        let end: Date
    }

    /// The answer of the endpoints.
    private struct Answer: Decodable {
        let AccessKeyId: String
        let SecretAccessKey: String
        let Token: String?
        let Expiration: String?
    }

    private let variables: [String: String]
    private let transport: any HTTPTransport
    /// Guards the credentials that are still valid.
    private let kept = Mutex<Kept?>(nil)

    init(_ variables: [String: String], _ transport: any HTTPTransport) {
        self.variables = variables
        self.transport = transport
    }

    func credentials() async throws -> S3Credentials {
        if let kept = kept.withLock({ $0 }), kept.end > Date() { return kept.credentials }
        if let found = S3Credentials(environment: variables) { return found }
        if let found = fromFile() { return keep(found, until: Date() + 60) }
        if let found = try await fromContainer() { return found }
        if variables["AWS_EC2_METADATA_DISABLED"]?.lowercased() != "true", let found = try await fromInstance() {
            return found
        }
        throw TierError.environment(
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to ~/.aws/credentials")
    }

    private func keep(_ credentials: S3Credentials, until end: Date) -> S3Credentials {
        kept.withLock { $0 = Kept(credentials: credentials, end: end) }
        return credentials
    }

    /// Reads the section of `AWS_PROFILE` in `AWS_SHARED_CREDENTIALS_FILE`.
    private func fromFile() -> S3Credentials? {
        let home = variables["HOME"].map { "\($0)/.aws/credentials" }
        guard let path = variables["AWS_SHARED_CREDENTIALS_FILE"] ?? home,
            let text = try? String(contentsOfFile: path, encoding: .utf8)
        else { return nil }
        let profile = "[\(variables["AWS_PROFILE"] ?? "default")]"
        var isInside = false
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline).map({ $0.filter { !$0.isWhitespace } }) {
            if line.hasPrefix("[") { isInside = line == profile }
            let parts = line.split(separator: "=", maxSplits: 1)
            if isInside, parts.count == 2 { values[parts[0].uppercased()] = String(parts[1]) }
        }
        return S3Credentials(environment: values)
    }

    private func fromContainer() async throws -> S3Credentials? {
        let relative = variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"].map { "http://169.254.170.2\($0)" }
        guard let url = relative ?? variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] else { return nil }
        var fields: HTTPFields = [:]
        let file = variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"]
        let token = file.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) }
        fields[.authorization] =
            (token ?? variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"])?
            .split(whereSeparator: \.isNewline).first.map { String($0) }
        return try await decoded(try await text(.get, url, fields))
    }

    private func fromInstance() async throws -> S3Credentials? {
        let endpoint = variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? "http://169.254.169.254"
        guard let lifetime = HTTPField.Name("X-aws-ec2-metadata-token-ttl-seconds"),
            let tokenName = HTTPField.Name("X-aws-ec2-metadata-token"),
            let token = try? await text(.put, "\(endpoint)/latest/api/token", [lifetime: "300"])
        else { return nil }
        let folder = "\(endpoint)/latest/meta-data/iam/security-credentials/"
        guard let role = try await text(.get, folder, [tokenName: token]).split(whereSeparator: \.isNewline).first
        else { return nil }
        return try await decoded(try await text(.get, folder + role, [tokenName: token]))
    }

    private func decoded(_ text: String) async throws -> S3Credentials {
        let answer = try JSONDecoder().decode(Answer.self, from: Data(text.utf8))
        let found = S3Credentials(
            accessKeyID: answer.AccessKeyId, secretAccessKey: answer.SecretAccessKey, sessionToken: answer.Token)
        let end = answer.Expiration.flatMap { try? Date($0, strategy: .iso8601) } ?? Date() + 360
        return keep(found, until: end - 300)
    }

    /// Returns the body of a successful response.
    private func text(_ method: HTTPRequest.Method, _ url: String, _ fields: HTTPFields) async throws -> String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3 else { throw TierError.environment("\(url) is not a URL") }
        let request = HTTPRequest(
            method: method, scheme: String(parts[0].dropLast()), authority: String(parts[2]),
            path: "/\(parts.count > 3 ? parts[3] : "")", headerFields: fields)
        let response = try await transport.send(transport.prepare(request), content: nil)
        var body = Data()
        while body.count < 65_536, let chunk = try await response.body.next() { body += chunk }
        guard response.head.status.kind == .successful else {
            throw TierError.environment("\(url) answers \(response.head.status)")
        }
        return String(decoding: body, as: UTF8.self)
    }
}
