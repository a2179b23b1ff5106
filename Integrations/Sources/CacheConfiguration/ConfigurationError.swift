public import CacheTier

/// A value of the configuration that cannot be used.
///
/// The key is relative to the reader. The description contains no secret.
@nonexhaustive
public enum ConfigurationError: Error, Sendable {
    /// The value is not one of the accepted values, which the text describes.
    case invalidValue(key: String, accepted: String)
    /// A provider has a value of another type for the key, or failed. The cause is the provider's error.
    case unreadable(key: String, accepted: String, cause: any Error)
    /// The value does not name the engine of a shared tier, or its keys.
    case tier(key: String, TierError)
}

extension ConfigurationError: CustomStringConvertible {
    /// A sentence with the key and the accepted values.
    public var description: String {
        switch self {
        case .invalidValue(let key, let accepted): "\(key) needs \(accepted)"
        case .unreadable(let key, let accepted, let cause): "\(key) needs \(accepted): \(cause)"
        case .tier(let key, let error): "\(key): \(error)"
        }
    }
}
