internal import CacheFoundation
internal import Crypto

/// A random number that distinguishes a lease from all other leases, of other machines and of this one.
///
/// A `PUT` may reach the engine twice, because a transport or a proxy repeats it after a dropped connection. Then the
/// engine answers 412 to the owner of the lease. Only the token in the lease identifies its owner.
struct LeaseToken: Hashable, Sendable {
    private static let label = Data("lease ".utf8)
    private let bytes: Data

    /// Creates a token of 128 random bits.
    init() {
        bytes = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
    }

    /// Returns the token of a lease, or `nil` for another object, such as a note.
    init?(payload: Data) {
        guard payload.starts(with: Self.label), payload.count == Self.label.count + 16 else { return nil }
        bytes = Data(payload.dropFirst(Self.label.count))
    }

    /// The content of the lease, which is sealed under its name.
    var payload: Data { Self.label + bytes }
}
