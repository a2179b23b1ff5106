/// A request received by an origin.
public struct OriginRequest: Hashable, Sendable {
    /// The position of the request among all requests to this origin, from 1.
    public var serial: Int

    /// The method.
    public var method: HTTPRequest.Method

    /// The request target: the path, and the query if any.
    public var path: String

    /// The header fields, including `Host`.
    public var fields: HTTPFields

    /// The body, without chunk framing.
    public var body: [UInt8]

    /// Creates a request.
    public init(
        serial: Int = 1, method: HTTPRequest.Method = .get, path: String, fields: HTTPFields = [:], body: [UInt8] = []
    ) {
        self.serial = serial
        self.method = method
        self.path = path
        self.fields = fields
        self.body = body
    }
}
