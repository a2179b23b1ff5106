import CacheLoader
import HTTPTypes
import Testing

extension LoadError {
    /// A response of the origin with this status; fields and body are not compared.
    static func status(_ code: Int, url: String) -> LoadError {
        .httpStatus(OriginError(status: HTTPResponse.Status(code: code), url: url))
    }

    /// The error without the fields and the body of the origin's response.
    var brief: LoadError {
        guard case .httpStatus(let error) = self else { return self }
        return .status(error.status.code, url: error.url)
    }
}

extension ResourceState {
    /// The state without the fields and the body of the origin's response.
    var brief: ResourceState {
        guard case .failed(let error, let prior) = self else { return self }
        return .failed(error.brief, prior: prior)
    }
}

/// Expects that a load fails. Does not compare fields or body of the origin's response.
@discardableResult
func expectError<Value>(
    _ expected: LoadError, sourceLocation: SourceLocation = #_sourceLocation, _ load: () async throws -> Value
) async -> LoadError? {
    do {
        _ = try await load()
        Issue.record("no error instead of \(expected)", sourceLocation: sourceLocation)
        return nil
    } catch {
        let error = error as? LoadError
        #expect(error?.brief == expected, sourceLocation: sourceLocation)
        return error
    }
}
