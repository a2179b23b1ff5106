// The folder `ResourceLoader/Processing/` has processors, their identities, the formats of stored values, and the types
// of content. The folder may use the bytes and the fields of a response. The folder knows no store, no loader and no
// transport: `ProcessingPlan` in `Scheduling/` runs processors and stores their values.

/// Turns loaded bytes into a value for the program, such as text, a decoded value or an image.
///
/// ```swift
/// struct Thumbnails: Processor {
///     let id = ProcessorID("thumbnails", version: 2)
///     @concurrent func process(_ input: Data, _ context: ProcessingContext) async throws -> Thumbnail { … }
/// }
/// ```
///
/// The loader calls a processor only with complete bodies. Several calls may run concurrently.
///
/// ``process(_:_:)`` runs on Swift's shared thread pool, never on the actor of the caller. Long computations, such as
/// parsing or decoding, may run there. Do not block on a disk, a lock or a network without `await`: a blocked thread
/// cannot run other tasks.
public protocol Processor<Input, Output>: Sendable {
    /// The type of the input: `Data` for the first processor of a chain.
    associatedtype Input: Sendable
    /// The type of the output.
    associatedtype Output: Sendable

    /// Names the processor and everything that its output depends on, except the input.
    ///
    /// If two ids are equal, the outputs for one input are interchangeable, also in later runs of the program.
    var id: ProcessorID { get }

    /// How the store keeps the output, so that a later load reads it instead of calling the processor.
    ///
    /// By default `nil`: the store does not keep the output. Declare this property with its optional type.
    var storedForm: StoredForm<Output>? { get }

    /// Returns the output for `input`. If a call throws, the next processor of a chain does not run.
    @concurrent func process(_ input: Input, _ context: ProcessingContext) async throws -> Output
}

/// A processor that can also run on the calling thread.
///
/// ``ResourceLoader/cachedValue(for:as:)`` runs the processor without suspension. A load runs it as every
/// ``Processor``: never on the actor of the caller.
///
/// ```swift
/// struct LineCount: SynchronousProcessor {
///     let id = ProcessorID("lines")
///     func processSynchronously(_ input: String, _ context: ProcessingContext) -> Int {
///         input.split(separator: "\n").count
///     }
/// }
/// ```
public protocol SynchronousProcessor<Input, Output>: Processor {
    // Declared again: Swift 6.3 infers the types of a requirement only from its own protocol.
    associatedtype Input
    associatedtype Output

    /// Makes the output of ``Processor/process(_:_:)`` on the calling thread.
    ///
    /// May block the main thread for as long as it takes. Throws where ``Processor/process(_:_:)`` does.
    func processSynchronously(_ input: Input, _ context: ProcessingContext) throws -> Output
}

extension SynchronousProcessor {
    /// Makes the output with ``processSynchronously(_:_:)``.
    @concurrent public func process(_ input: Input, _ context: ProcessingContext) async throws -> Output {
        try processSynchronously(input, context)
    }
}

/// The information about a response that a processor receives in addition to the bytes.
public struct ProcessingContext: Hashable, Sendable {
    /// The URL of the bytes, after redirects.
    public var url: String
    /// The fields of the response.
    public var headerFields: HTTPFields

    /// Creates a context.
    public init(url: String, headerFields: HTTPFields = [:]) {
        self.url = url
        self.headerFields = headerFields
    }

    /// The value of `Content-Type` with its parameters. Of several fields the last counts, as in browsers.
    public var contentType: String? { headerFields[values: .contentType].last }
}
