/// Two processors, the second of which takes what the first makes.
///
/// When the first throws, or the task has been cancelled meanwhile, the second is not called.
public struct ProcessorChain<First: Processor, Second: Processor>: Processor where First.Output == Second.Input {
    private let first: First
    private let second: Second

    fileprivate init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// Both ids, in this order. However a longer chain is put together, it has the same id.
    public var id: ProcessorID { first.id.then(second.id) }

    /// That of the second.
    public var storedForm: StoredForm<Second.Output>? { second.storedForm }

    /// What the second makes of what the first makes of `input`.
    @concurrent public func process(_ input: First.Input, _ context: ProcessingContext) async throws -> Second.Output {
        let value = try await first.process(input, context)
        try Task.checkCancellation()
        return try await second.process(value, context)
    }
}

extension Processor {
    /// This processor, and then `next` with its output.
    ///
    /// ```swift
    /// let titles = JSONProcessor(Feed.self).then(ClosureProcessor(ProcessorID("titles")) { feed, _ in feed.titles })
    /// ```
    public func then<Next: Processor>(_ next: Next) -> ProcessorChain<Self, Next> where Next.Input == Output {
        ProcessorChain(self, next)
    }
}
