public import CacheFoundation

/// Decodes JSON (RFC 8259) to a value of a `Decodable` type.
///
/// The id includes the full name of the type and the names of the strategies. All strategies that call a closure or a
/// formatter have the same name: distinguish them by the version. To store values, use a type that is not `private`:
/// the name of a private type differs between runs.
public struct JSONProcessor<Output: Decodable & Sendable>: SynchronousProcessor {
    private let version: Int
    private let dates: JSONDecoder.DateDecodingStrategy
    private let keys: JSONDecoder.KeyDecodingStrategy

    /// Creates a processor.
    ///
    /// - Parameters:
    ///   - type: The type of the decoded value.
    ///   - version: Raise this if a change of the type, or of a strategy that calls a closure, changes the values.
    ///   - dates: How to decode dates. By default as `Date` does: from a number of seconds since 2001.
    ///   - keys: How to decode the keys of objects. By default they are the names of the properties.
    public init(
        _ type: Output.Type, version: Int = 1, dates: JSONDecoder.DateDecodingStrategy = .deferredToDate,
        keys: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys
    ) {
        self.version = version
        self.dates = dates
        self.keys = keys
    }

    /// `json`, with version, type and strategies as parameters.
    public var id: ProcessorID {
        ProcessorID(
            "json", version: version,
            parameters: [
                "type": String(reflecting: Output.self), "dates": dates.name, "keys": keys.name,
            ])
    }

    /// Returns the value.
    ///
    /// - Throws: ``ProcessingError/malformedJSON(type:path:reason:)``; also errors from `init(from:)` of the type,
    ///   except `DecodingError`.
    public func processSynchronously(_ input: Data, _ context: ProcessingContext) throws -> Output {
        // A decoder has one owner, so each call makes its own.
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = dates
        decoder.keyDecodingStrategy = keys
        do {
            return try decoder.decode(Output.self, from: input)
        } catch let error as DecodingError {
            throw ProcessingError(error, type: Output.self)
        }
    }
}

extension JSONDecoder.DateDecodingStrategy {
    fileprivate var name: String {
        switch self {
        case .deferredToDate: "deferredToDate"
        case .secondsSince1970: "secondsSince1970"
        case .millisecondsSince1970: "millisecondsSince1970"
        case .iso8601: "iso8601"
        default: "custom"
        }
    }
}

extension JSONDecoder.KeyDecodingStrategy {
    fileprivate var name: String {
        switch self {
        case .useDefaultKeys: "useDefaultKeys"
        case .convertFromSnakeCase: "convertFromSnakeCase"
        default: "custom"
        }
    }
}

extension ProcessingError {
    fileprivate init(_ error: DecodingError, type: Any.Type) {
        let type = String(reflecting: type)
        switch error {
        case .keyNotFound(let key, let context):
            let path = Self.path(context.codingPath + [key])
            self = .malformedJSON(type: type, path: path, reason: "the value is missing")
        case .valueNotFound(_, let context), .typeMismatch(_, let context), .dataCorrupted(let context):
            self = .malformedJSON(
                type: type, path: Self.path(context.codingPath), reason: context.debugDescription)
        @unknown default:
            self = .malformedJSON(type: type, path: "", reason: "\(error)")
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}

extension Processor {
    /// A processor that decodes a value of `type`; see ``JSONProcessor/init(_:version:dates:keys:)``.
    public static func json<Value>(
        _ type: Value.Type, version: Int = 1, dates: JSONDecoder.DateDecodingStrategy = .deferredToDate,
        keys: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys
    ) -> Self where Self == JSONProcessor<Value> {
        JSONProcessor(type, version: version, dates: dates, keys: keys)
    }
}
