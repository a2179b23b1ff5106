package import CacheCodings
package import CacheFoundation
internal import Synchronization

/// A body that is decoded with a dictionary while it arrives (RFC 9842 §4, §5). For one reader.
package final class DictionaryBody: Sendable {
    private let coding: DictionaryCoding
    private let source: TransportBody
    /// Guards the decompressor. The body has one reader, so the lock is uncontended.
    private let step: Mutex<DecompressionStep>

    /// Returns `nil` for a coding that this build does not decode. `rest` has the received bytes after the header, and
    /// `source` the bytes after `rest`.
    package init?(_ coding: DictionaryCoding, dictionary: Data, rest: Data, source: TransportBody) {
        guard var step = coding.makeStep(dictionary: dictionary) else { return nil }
        self.coding = coding
        self.source = source
        step.append(rest)
        self.step = Mutex(step)
    }

    /// Returns the next decoded bytes, up to 64 KiB, or `nil` once the body is complete. Decodes only these bytes, so a
    /// chunk that expands to gigabytes needs little memory.
    package func next() async throws(TransportError) -> Data? {
        while true {
            // A chunk can yield thousands of pieces without a wait for the source.
            guard !Task.isCancelled else { throw TransportError(.cancelled) }
            if let piece = try decodePiece() { return piece }
            guard let chunk = try await source.next() else {
                try finish()
                return nil
            }
            step.withLock { $0.append(chunk) }
        }
    }

    private func decodePiece() throws(TransportError) -> Data? {
        do throws(DecompressionFailure) {
            return try step.withLock { (step) throws(DecompressionFailure) in try step.next() }
        } catch {
            throw failure
        }
    }

    private func finish() throws(TransportError) {
        do throws(DecompressionFailure) {
            try step.withLock { (step) throws(DecompressionFailure) in try step.finish() }
        } catch {
            throw failure
        }
    }

    private var failure: TransportError {
        TransportError(.malformedResponse, message: "the body is not in the coding \(coding.rawValue)")
    }
}
