#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Removes one content coding while the bytes arrive. For one reader.
protocol Decompressor: AnyObject {
    /// The number of bytes to decompress at a time where memory counts. They stand for some tens of MiB at most.
    static var sliceByteCount: Int { get }

    /// Decompresses the next bytes. `output` also receives the bytes before a failure.
    func append(_ input: Data, into output: inout Data) throws(DecompressionFailure)

    /// Throws if the data is incomplete.
    func finish() throws(DecompressionFailure)
}

enum DecompressionFailure: Error {
    /// The data does not have the stated format, or is incomplete.
    case malformed
    /// The decompressed data is longer than the limit.
    case tooLarge
}

extension Decompressor {
    static var sliceByteCount: Int { 1_024 }

    /// Decompresses the first bytes up to the limit, and tells whether these are all. Damaged data ends at the damage.
    func start(of data: Data) -> (bytes: Data, isWhole: Bool) {
        var output = Data()
        do throws(DecompressionFailure) {
            try append(data, into: &output)
            try finish()
            return (output, true)
        } catch {
            return (output, false)
        }
    }
}
