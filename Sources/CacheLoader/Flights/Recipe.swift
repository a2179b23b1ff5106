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

    /// What a processor makes of the bytes.
    init<Output>(_ processor: some Processor<Data, Output>) {
        identity = Identity(name: processor.id.description, output: ObjectIdentifier(Output.self))
        make = { resource in
            let context = ProcessingContext(url: resource.url, headerFields: resource.headerFields)
            return try await processor.process(resource.data, context)
        }
    }

    private init(
        identity: Identity, make: @escaping @Sendable (Resource) async throws -> any Sendable
    ) {
        self.identity = identity
        self.make = make
    }

    /// Nothing: it is the store that is to have them.
    static let nothing = Recipe(identity: Identity(name: "", output: ObjectIdentifier(Void.self))) { _ in () }
}
