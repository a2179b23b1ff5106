#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Removes one content coding while the bytes arrive. For one reader.
protocol Decompressor: AnyObject {
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
