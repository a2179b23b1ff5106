/// A processor made of a closure.
///
/// ```swift
/// let lengths = ClosureProcessor(ProcessorID("lengths")) { (data: Data, _) in data.count }
/// ```
public struct ClosureProcessor<Input: Sendable, Output: Sendable>: Processor {
    /// As given.
    public let id: ProcessorID

    // `@concurrent` here as well: Swift 6.3 drops the change of executor at the start of `process` when all it does is to
    // call a closure that would run where its caller does.
    private let body: @concurrent @Sendable (Input, ProcessingContext) async throws -> Output

    // There is no `.closure` beside `.text` and `.json`: behind a member found in this way Swift 6.3 does not see that the
    // closure is to be `@Sendable`.

    /// Creates a processor that calls `body`.
    ///
    /// - Parameters:
    ///   - id: Has to name all that the output depends on besides the input; nothing can be known from the closure.
    ///   - body: What ``Processor/process(_:_:)`` does.
    public init(
        _ id: ProcessorID, _ body: @escaping @concurrent @Sendable (Input, ProcessingContext) async throws -> Output
    ) {
        self.id = id
        self.body = body
    }

    /// What the closure returns.
    @concurrent public func process(_ input: Input, _ context: ProcessingContext) async throws -> Output {
        try await body(input, context)
    }
}
