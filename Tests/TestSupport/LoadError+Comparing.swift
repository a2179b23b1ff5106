extension LoadError {
    /// A response of the origin with this status; fields and body are not compared.
    package static func status(_ code: Int, url: String) -> LoadError {
        .httpStatus(OriginError(status: HTTPResponse.Status(code: code), url: url))
    }

    /// The error without the fields and the body of the origin's response.
    package var brief: LoadError {
        guard case .httpStatus(let error) = self else { return self }
        return .status(error.status.code, url: error.url)
    }
}

/// Expects that a load fails. Does not compare fields or body of the origin's response.
@discardableResult
package func expectError<Value>(
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
