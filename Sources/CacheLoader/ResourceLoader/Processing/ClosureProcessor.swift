/// A processor that calls a closure.
///
/// ```swift
/// let lengths = ClosureProcessor(ProcessorID("lengths")) { (data: Data, _) in data.count }
/// ```
public struct ClosureProcessor<Input: Sendable, Output: Sendable>: Processor {
    /// The id that the initializer received.
    public let id: ProcessorID

    // The closure is `@concurrent`, too. Swift 6.3 omits the change of executor in `process` if `process` only calls a
    // closure on the caller's executor.
    private let body: @concurrent @Sendable (Input, ProcessingContext) async throws -> Output

    // There is no `.closure` like `.text` and `.json`, because Swift 6.3 would not infer `@Sendable` for its closure.

    /// Creates a processor that calls `body`.
    ///
    /// - Parameters:
    ///   - id: Must name everything that the output depends on, except the input. The processor cannot inspect the
    ///     closure.
    ///   - body: Implements ``Processor/process(_:_:)``.
    public init(
        _ id: ProcessorID, _ body: @escaping @concurrent @Sendable (Input, ProcessingContext) async throws -> Output
    ) {
        self.id = id
        self.body = body
    }

    /// Returns the result of the closure.
    @concurrent public func process(_ input: Input, _ context: ProcessingContext) async throws -> Output {
        try await body(input, context)
    }
}
