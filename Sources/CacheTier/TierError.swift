/// An error of the tier that a caller has to handle. Loads never throw one.
@nonexhaustive
public enum TierError: Error, Hashable, Sendable {
    /// The text is not the URL of an engine.
    case invalidURL(String)
    /// The bytes are not a key of the announced kind.
    case invalidKey(id: String)
    /// The keys of this tier cannot write.
    case readOnly
    /// The engine did not accept or return an object. The text is its answer.
    case engine(String)
    /// The environment lacks a variable, which the text names.
    case environment(String)
}

extension TierError: CustomStringConvertible {
    /// A readable sentence. Contains no key and no credentials.
    public var description: String {
        switch self {
        case .invalidURL(let text): "\(text) is not an http or https URL of an engine"
        case .invalidKey(let id): "the key \(id) has the wrong length"
        case .readOnly: "the keys of this tier cannot write"
        case .engine(let answer): "the engine failed: \(answer)"
        case .environment(let text): text
        }
    }
}
