package import CacheFoundation
internal import CacheStore
internal import Logging

/// A processing plan: how to make a value from a body, regardless of the caller.
package struct ProcessingPlan: Sendable {
    /// Plans with equal identities make equal values from equal bodies.
    struct Identity: Hashable, Sendable {
        let name: String
        let output: ObjectIdentifier
    }

    /// The format in which the store keeps a value.
    struct Form: Sendable {
        let id: String
        let encode: @Sendable (any Sendable) throws -> Data
        let decode: @Sendable (Data) throws -> any Sendable
    }

    let identity: Identity
    /// Makes a value from a body, and from the stored file with the same bytes, if there is one.
    let make: @Sendable (Loaded<Data>, StoredBody?) async throws -> any Sendable
    /// The format in the store. `nil` when the store must not keep the value.
    var form: Form?

    /// Returns the bytes unchanged.
    static let bytes = ProcessingPlan(identity: Identity(name: "", output: ObjectIdentifier(Data.self))) {
        resource, _ in resource.data
    }

    /// Makes no value: only the store receives the body.
    static let nothing = ProcessingPlan(identity: Identity(name: "", output: ObjectIdentifier(Void.self))) { _, _ in ()
    }

    /// A body that is to be written to a file.
    struct Content: Sendable {
        let data: Data
        /// The stored file with the same bytes, if there is one.
        let file: StoredBody?
    }

    /// Returns the bytes, and the stored file with the same bytes.
    static let content = ProcessingPlan(identity: Identity(name: "", output: ObjectIdentifier(Content.self))) {
        resource, file in Content(data: resource.data, file: file)
    }

    /// Creates a plan that runs a processor on the bytes; ``DataProcessor`` returns them unchanged.
    package init<Output>(_ processor: some Processor<Data, Output>) {
        guard !(processor is DataProcessor) else {
            self = .bytes
            return
        }
        identity = Identity(name: processor.id.description, output: ObjectIdentifier(Output.self))
        make = { resource, _ in
            let context = ProcessingContext(url: resource.url, headerFields: resource.headerFields)
            return try await processor.process(resource.data, context)
        }
        guard let form = processor.storedForm else { return }
        self.form = Form(
            id: form.id,
            encode: { value in
                guard let value = value as? Output else { preconditionFailure("a plan stores values that it made") }
                return try form.encode(value)
            },
            decode: form.decode)
    }

    private init(
        identity: Identity, make: @escaping @Sendable (Loaded<Data>, StoredBody?) async throws -> any Sendable
    ) {
        self.identity = identity
        self.make = make
    }
}

/// Reads and stores values as derived representations of an entry.
extension ProcessingPlan {
    /// Returns the name of a value in a format. Values made from encoded bytes have separate names.
    private func name(_ form: Form, _ configuration: ResourceLoader.Configuration) -> String {
        let name = (configuration.decodesContent ? "" : "encoded/") + "\(form.id)/\(identity.name)"
        guard name.utf8.count > ResponseStore.maxDerivedNameByteCount else { return name }
        // A digest and no prefix: two long names may begin with the same bytes.
        return Array(name.utf8).withUnsafeBytes { "sha256-\(ContentDigest(of: $0))" }
    }

    /// Reads a stored value, like ``readStoredValue(of:in:_:)``, but never on the actor of the caller.
    @concurrent func storedValue(
        of entry: StoredEntry, in store: ResponseStore, _ configuration: ResourceLoader.Configuration
    ) async -> (value: any Sendable, byteCount: Int)? {
        readStoredValue(of: entry, in: store, configuration)
    }

    /// Reads the stored value of an entry. Returns `nil` without a value, or when reading fails.
    func readStoredValue(
        of entry: StoredEntry, in store: ResponseStore, _ configuration: ResourceLoader.Configuration
    ) -> (value: any Sendable, byteCount: Int)? {
        guard let form else { return nil }
        do {
            guard let body = try store.openDerived(name: name(form, configuration), of: entry) else { return nil }
            let data = try body.data()
            return (try form.decode(data), data.count)
        } catch {
            configuration.log(.errors, .warning, "could not read a processed value", Self.metadata(entry, error))
            return nil
        }
    }

    /// Stores a value of an entry. Logs a failure, which does not affect the load.
    @concurrent func keep(
        _ value: any Sendable, of entry: StoredEntry, in store: ResponseStore,
        _ configuration: ResourceLoader.Configuration
    ) async {
        guard let form else { return }
        do {
            try await store.insertDerived(try form.encode(value), name: name(form, configuration), of: entry)
        } catch {
            configuration.log(.errors, .warning, "could not store a processed value", Self.metadata(entry, error))
        }
    }

    private static func metadata(_ entry: StoredEntry, _ error: any Error) -> Logger.Metadata {
        // Log only the type of an error that does not come from the store, because its text may quote the value.
        [
            "url": "\(LoggedURL(entry.key.text))",
            "error": "\((error as? StoreError)?.logged ?? String(describing: type(of: error)))",
        ]
    }
}
