internal import CacheFoundation

/// Removes one content coding while the bytes arrive. For one reader.
protocol Decompressor: AnyObject {
    /// Decompresses bytes of `input`, and removes these from it. Appends up to ``DecompressedBytes/chunkByteCount``
    /// bytes to `output`, also before a failure. If it appends none, it has used all input, and the library holds no
    /// further output.
    func decompress(_ input: inout Data, into output: inout Data) throws(DecompressionFailure)

    /// Throws if the data is incomplete.
    func finish() throws(DecompressionFailure)
}

package enum DecompressionFailure: Error {
    /// The data does not have the stated format, or is incomplete.
    case malformed
    /// The decompressed data is longer than the limit.
    case tooLarge
}

extension Decompressor {
    /// Decompresses all of `input`. `output` also receives the bytes before a failure.
    func append(_ input: Data, into output: inout Data) throws(DecompressionFailure) {
        var rest = input
        var count = -1
        while output.count > count {
            count = output.count
            try decompress(&rest, into: &output)
        }
    }

    /// Decompresses the start of the data up to the limit. Tells whether this is everything. Stops at damaged data.
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
