public import CacheLoader
public import Foundation
internal import HTTPTypes

/// Runs processors in tests.
public enum ProcessorSample {
    /// Takes a processor as a loader does, so that the compiler has to find `.text`, `.image` and the like.
    public static func value<Output>(
        _ data: Data, contentType: String? = nil, as processor: some Processor<Data, Output>
    ) async throws -> Output {
        try await processor.process(data, context(contentType))
    }

    /// A response to `http://a.test/` with this `Content-Type`, or without one.
    public static func context(_ contentType: String? = nil) -> ProcessingContext {
        var fields = HTTPFields()
        fields[.contentType] = contentType
        return ProcessingContext(url: "http://a.test/", headerFields: fields)
    }
}
