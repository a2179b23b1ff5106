/// Runs processors in tests.
public enum ProcessorSample {
    /// Runs a processor through a generic parameter, like a loader, so that the compiler resolves `.text`, `.image` and
    /// similar members.
    public static func value<Output>(
        _ data: Data, contentType: String? = nil, as processor: some Processor<Data, Output>
    ) async throws -> Output {
        try await processor.process(data, context(contentType))
    }

    /// Returns the context of a response to `http://a.test/`, with this `Content-Type` or without one.
    public static func context(_ contentType: String? = nil) -> ProcessingContext {
        var fields = HTTPFields()
        fields[.contentType] = contentType
        return ProcessingContext(url: "http://a.test/", headerFields: fields)
    }
}
