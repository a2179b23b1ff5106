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
