public import CacheFoundation

/// Returns the bytes unchanged.
public struct DataProcessor: SynchronousProcessor {
    /// Creates the processor.
    public init() {}

    /// `data@1`.
    public var id: ProcessorID { ProcessorID("data") }

    /// Returns the bytes without a copy.
    public func processSynchronously(_ input: Data, _ context: ProcessingContext) -> Data { input }
}

extension Processor where Self == DataProcessor {
    /// The bytes, unchanged.
    public static var data: DataProcessor { DataProcessor() }
}
