#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How the output of a processor is kept in the store, beside the bytes that it was made of.
///
/// ```swift
/// let thumbnail = ImageProcessor(decoder, variant).stored(as: StoredForm("png", encode: { $0.png }, decode: Image.init(png:)))
/// let image = try await loader.load(url, as: thumbnail).value     // the next time it is read, not made
/// ```
///
/// What is kept is found by the ids of the processor and of the form, goes with the bytes that it was made of, when they are removed, evicted
/// or replaced, and counts in the limits of the store.
public struct StoredForm<Output: Sendable>: Sendable {
    let id: String
    let encode: @Sendable (Output) throws -> Data
    let decode: @Sendable (Data) throws -> Output

    /// Creates a form. Both closures run where processors do.
    ///
    /// - Parameters:
    ///   - id: Names what the bytes are, and their version. Bytes of another id are not decoded.
    ///   - encode: The bytes of an output. One that throws leaves the output without a stored form.
    ///   - decode: The output that the bytes stand for. Where it throws, the output is made, and stored, once more.
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
    /// The bytes themselves.
    public static var data: StoredForm { StoredForm("data", encode: { $0 }, decode: { $0 }) }
}

extension StoredForm<String> {
    /// The text in UTF-8.
    public static var text: StoredForm {
        StoredForm("text", encode: { Data($0.utf8) }, decode: { String(decoding: $0, as: UTF8.self) })
    }
}

extension StoredForm where Output: Codable {
    /// The value in JSON, as `JSONEncoder` writes it by default.
    public static var json: StoredForm {
        StoredForm(
            "json", encode: { try JSONEncoder().encode($0) },
            decode: { try JSONDecoder().decode(Output.self, from: $0) })
    }
}

/// A processor whose outputs are kept in the store.
public struct StoredProcessor<Base: Processor>: Processor {
    private let base: Base
    private let form: StoredForm<Base.Output>

    fileprivate init(_ base: Base, _ form: StoredForm<Base.Output>) {
        self.base = base
        self.form = form
    }

    /// That of the processor: what is stored changes nothing in the output.
    public var id: ProcessorID { base.id }

    /// As given.
    public var storedForm: StoredForm<Base.Output>? { form }

    /// What the processor makes.
    @concurrent public func process(_ input: Base.Input, _ context: ProcessingContext) async throws -> Base.Output {
        try await base.process(input, context)
    }
}

extension Processor {
    /// None.
    public var storedForm: StoredForm<Output>? { nil }

    /// This processor, with its outputs kept in the store in a form.
    ///
    /// Worth it where the output takes longer to make than to read. Only for what depends on nothing besides the bytes and the
    /// id: fields such as `Content-Type` may change while the bytes stay. In a chain it is the form of the last processor
    /// that counts, and it stands for all of them: `decode.then(resize).stored(as: form)`.
    public func stored(as form: StoredForm<Output>) -> StoredProcessor<Self> {
        StoredProcessor(self, form)
    }
}
