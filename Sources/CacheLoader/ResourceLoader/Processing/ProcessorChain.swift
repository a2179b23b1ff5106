/// Two processors; the second receives the output of the first. If the first throws, or the task is cancelled before
/// the first returns, the second does not run.
struct ProcessorChain<First: Processor, Second: Processor>: Processor where First.Output == Second.Input {
    private let first: First
    private let second: Second

    init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// Both ids, in this order. The grouping of a longer chain does not change its id.
    var id: ProcessorID { first.id.then(second.id) }

    var storedForm: StoredForm<Second.Output>? { second.storedForm }

    @concurrent func process(_ input: First.Input, _ context: ProcessingContext) async throws -> Second.Output {
        let value = try await first.process(input, context)
        try Task.checkCancellation()
        return try await second.process(value, context)
    }
}

extension ProcessorChain: SynchronousProcessor where First: SynchronousProcessor, Second: SynchronousProcessor {
    func processSynchronously(
        _ input: First.Input, _ context: ProcessingContext
    ) throws -> Second.Output {
        try second.processSynchronously(first.processSynchronously(input, context), context)
    }
}

extension Processor {
    /// Returns a chain of this processor and `next`: the second receives the output of the first.
    ///
    /// The id consists of both ids, and the stored form is that of `next`. If this processor throws, or the task is
    /// cancelled before it returns, `next` does not run. A chain of two ``SynchronousProcessor``s is also synchronous.
    ///
    /// ```swift
    /// let titles = JSONProcessor(Feed.self).then(ClosureProcessor(ProcessorID("titles")) { feed, _ in feed.titles })
    /// ```
    public func then<Result>(_ next: some Processor<Output, Result>) -> some Processor<Input, Result> {
        ProcessorChain(self, next)
    }
}
