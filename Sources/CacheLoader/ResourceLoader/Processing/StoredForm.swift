public import CacheFoundation

/// The format in which the store keeps the output of a processor, in addition to the original bytes.
///
/// ```swift
/// let thumbnails = Thumbnails().stored(as: StoredForm("png", encode: { $0.png }, decode: Thumbnail.init(png:)))
/// let thumbnail = try await loader.load(url, as: thumbnails).value    // the next load reads it from the store
/// ```
///
/// The ids of the processor and of the format identify a derived representation. The store removes, evicts and replaces
/// the representation together with the original bytes. Derived representations count in the limits of the store.
public struct StoredForm<Output: Sendable>: Sendable {
    let id: String
    let encode: @Sendable (Output) throws -> Data
    let decode: @Sendable (Data) throws -> Output

    /// Creates a format. Both closures run on the same threads as processors.
    ///
    /// - Parameters:
    ///   - id: Names the format and its version. The loader does not decode bytes of another id.
    ///   - encode: Returns the bytes of an output. If it throws, the store keeps no derived representation.
    ///   - decode: Returns the output of the bytes. If it throws, the loader makes and stores the output again.
    public init(
        _ id: String, encode: @escaping @Sendable (Output) throws -> Data,
        decode: @escaping @Sendable (Data) throws -> Output
    ) {
        self.id = id
        self.encode = encode
        self.decode = decode
    }
}

extension StoredForm<Data> {
    /// The bytes, unchanged.
    public static var data: StoredForm { StoredForm("data", encode: { $0 }, decode: { $0 }) }
}

extension StoredForm<String> {
    /// The text in UTF-8.
    public static var text: StoredForm {
        StoredForm("text", encode: { Data($0.utf8) }, decode: { String(decoding: $0, as: UTF8.self) })
    }
}

extension StoredForm where Output: Codable {
    /// The value in JSON, in the default format of `JSONEncoder`.
    public static var json: StoredForm {
        StoredForm(
            "json", encode: { try JSONEncoder().encode($0) },
            decode: { try JSONDecoder().decode(Output.self, from: $0) })
    }
}

/// A processor whose outputs the store keeps.
struct StoredProcessor<Base: Processor>: Processor {
    private let base: Base
    private let form: StoredForm<Base.Output>

    init(_ base: Base, _ form: StoredForm<Base.Output>) {
        self.base = base
        self.form = form
    }

    /// The id of the base processor: the stored format does not change the output.
    var id: ProcessorID { base.id }

    /// The format that the initializer received.
    var storedForm: StoredForm<Base.Output>? { form }

    @concurrent func process(_ input: Base.Input, _ context: ProcessingContext) async throws -> Base.Output {
        try await base.process(input, context)
    }
}

extension StoredProcessor: SynchronousProcessor where Base: SynchronousProcessor {
    func processSynchronously(_ input: Base.Input, _ context: ProcessingContext) throws -> Base.Output {
        try base.processSynchronously(input, context)
    }
}

extension Processor {
    /// `nil`: the store does not keep the output.
    public var storedForm: StoredForm<Output>? { nil }

    /// Returns this processor with a format in which the store keeps its outputs.
    ///
    /// Useful if reading the output takes less time than making it. The output must depend only on the bytes and the
    /// id: fields such as `Content-Type` may change while the bytes stay. In a chain the format of the last processor
    /// counts for the whole chain: `decode.then(resize).stored(as: form)`. The result has the id of this processor. If
    /// this is a ``SynchronousProcessor``, so is the result.
    public func stored(as form: StoredForm<Output>) -> some Processor<Input, Output> {
        StoredProcessor(self, form)
    }
}
