/// The credentials of an S3 engine. Neither their description nor their mirror shows a secret.
public struct S3Credentials: Sendable {
    /// Returns the credentials for the next request, for example after a rotation.
    public typealias Provider = @Sendable () async throws -> S3Credentials

    package let accessKeyID: String
    package let secretAccessKey: String
    package let sessionToken: String?

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - accessKeyID: The public name of the key.
    ///   - secretAccessKey: The secret, which signs requests and never leaves the process.
    ///   - sessionToken: The token of temporary credentials, or `nil`.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. Returns `nil` without one of the
    /// first two. An empty variable counts as absent, as in the SDKs of AWS.
    ///
    /// - Parameter environment: The variables, such as `ProcessInfo.processInfo.environment`.
    public init?(environment: [String: String]) {
        let variables = environment.filter { !$0.value.isEmpty }
        guard let id = variables["AWS_ACCESS_KEY_ID"], let secret = variables["AWS_SECRET_ACCESS_KEY"] else {
            return nil
        }
        self.init(accessKeyID: id, secretAccessKey: secret, sessionToken: variables["AWS_SESSION_TOKEN"])
    }
}

extension S3Credentials: CustomStringConvertible, CustomReflectable {
    /// The text "S3Credentials", without a secret.
    public var description: String { "S3Credentials" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
