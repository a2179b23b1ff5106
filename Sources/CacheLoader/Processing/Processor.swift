/// Turns what was loaded into what a program works with: bytes into text, a value or an image.
///
/// ```swift
/// struct Thumbnails: Processor {
///     let id = ProcessorID("thumbnails", version: 2)
///     @concurrent func process(_ input: Data, _ context: ProcessingContext) async throws -> Thumbnail { … }
/// }
/// ```
///
/// A processor is called only with bytes that were loaded whole. It may be called several times at once.
///
/// ``process(_:_:)`` runs on the pool of threads that all tasks share, never on the actor that asked for the value, so
/// work for the processor, such as parsing or decoding, is welcome there. What waits for a disk, a lock or a network
/// without `await` is not: it keeps a thread from everyone else.
public protocol Processor<Input, Output>: Sendable {
    /// What it takes: `Data`, if it is the first of a chain.
    associatedtype Input: Sendable
    /// What it makes of that.
    associatedtype Output: Sendable

    /// Names the processor and all that its output depends on besides the input.
    ///
    /// Where two ids are equal, the outputs for one input may take each other's place, also in later runs of the program.
    var id: ProcessorID { get }

    /// How its output is kept in the store, to be read there instead of being made again; `nil`, the default, for not at all.
    /// One that has a form declares it as the optional that it is here.
    var storedForm: StoredForm<Output>? { get }

    /// The output for `input`. Throws when it makes no sense of it; then nothing comes after it in a chain.
    @concurrent func process(_ input: Input, _ context: ProcessingContext) async throws -> Output
}
