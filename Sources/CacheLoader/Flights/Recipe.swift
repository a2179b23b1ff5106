#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What is to be made of a body, whoever wants it.
struct Recipe: Sendable {
    /// Recipes with equal identities make equal values of equal bodies.
    struct Identity: Hashable, Sendable {
        let name: String
        let output: ObjectIdentifier
    }

    let identity: Identity
    let make: @Sendable (Resource) async throws -> any Sendable

    /// The bytes as they are.
    static let bytes = Recipe(identity: Identity(name: "", output: ObjectIdentifier(Data.self))) { $0.data }

    /// Nothing: it is the store that is to have them.
    static let nothing = Recipe(identity: Identity(name: "", output: ObjectIdentifier(Void.self))) { _ in () }
}
