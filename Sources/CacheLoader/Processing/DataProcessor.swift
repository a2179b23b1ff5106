#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The bytes as they are.
public struct DataProcessor: Processor {
    /// Creates the processor.
    public init() {}

    /// `data@1`.
    public var id: ProcessorID { ProcessorID("data") }

    /// The bytes, not copied.
    @concurrent public func process(_ input: Data, _ context: ProcessingContext) async throws -> Data { input }
}

extension Processor where Self == DataProcessor {
    /// The bytes as they are.
    public static var data: DataProcessor { DataProcessor() }
}
