#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Returns the bytes unchanged.
public struct DataProcessor: Processor {
    /// Creates the processor.
    public init() {}

    /// `data@1`.
    public var id: ProcessorID { ProcessorID("data") }

    /// Returns the bytes without a copy.
    @concurrent public func process(_ input: Data, _ context: ProcessingContext) async throws -> Data { input }
}

extension Processor where Self == DataProcessor {
    /// The bytes, unchanged.
    public static var data: DataProcessor { DataProcessor() }
}
