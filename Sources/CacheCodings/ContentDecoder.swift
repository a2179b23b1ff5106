package import CacheFoundation
package import HTTPTypes

/// Decodes the content codings of a body while it arrives. For one reader.
package final class ContentDecoder {
    /// The codings in the order of their removal.
    private var steps: [(coding: ContentCoding, step: DecompressionStep)]
    private let limit: Int64
    private var hasInput = false

    /// Returns `nil` for fields with no coding, an unknown one, or too many. `limit` is the largest length in bytes of
    /// the decoded body, and of the output of each inner coding. A few encoded bytes can expand to any length.
    package init?(_ fields: HTTPFields, limit: Int64) {
        guard let codings = ContentCoding.codings(fields) else { return nil }
        steps = codings.reversed().map { ($0, DecompressionStep($0.makeDecompressor(limit: limit))) }
        self.limit = limit
    }

    /// Decodes the next chunk. Returns no bytes when the decoder needs more of the body.
    package func decode(_ chunk: Data) throws(ContentDecodingError) -> Data {
        append(chunk)
        var bytes = Data()
        guard steps.count == 1 else {
            while let piece = try nextPiece() { bytes += piece }
            return bytes
        }
        // A single coding needs no intermediate copies.
        do throws(DecompressionFailure) {
            try steps[0].step.drain(into: &bytes)
            return bytes
        } catch {
            throw translated(error, steps[0].coding)
        }
    }

    /// Adds the next chunk of the body; ``next()`` decodes it. Call this after ``next()`` has returned `nil`.
    package func append(_ chunk: Data) {
        hasInput = hasInput || !chunk.isEmpty
        steps[0].step.append(chunk)
    }

    /// Returns the next decoded bytes, at most 64 KiB and never empty. Returns `nil` when the decoder needs more of the
    /// body. Decodes only these bytes, so a chunk that expands to gigabytes needs little memory. Throws
    /// ``ContentDecodingError/cancelled`` after a cancellation of the task.
    package func next() throws(ContentDecodingError) -> Data? {
        try nextPiece { Task.isCancelled }
    }

    private func nextPiece(isCancelled: () -> Bool = { false }) throws(ContentDecodingError) -> Data? {
        while let index = steps.lastIndex(where: { !$0.step.isIdle }) {
            // An inner coding may consume any number of bytes without output.
            guard !isCancelled() else { throw .cancelled }
            let piece: Data?
            do throws(DecompressionFailure) {
                piece = try steps[index].step.next()
            } catch {
                throw translated(error, steps[index].coding)
            }
            guard let piece else { continue }
            guard index < steps.count - 1 else { return piece }
            steps[index + 1].step.append(piece)
        }
        return nil
    }

    /// Throws if the body is incomplete. Accepts an empty body: a response without content, such as one to HEAD, may
    /// also name a coding.
    package func finish() throws(ContentDecodingError) {
        guard hasInput else { return }
        for (coding, step) in steps {
            do throws(DecompressionFailure) {
                try step.finish()
            } catch {
                throw translated(error, coding)
            }
        }
    }

    private func translated(_ error: DecompressionFailure, _ coding: ContentCoding) -> ContentDecodingError {
        switch error {
        case .tooLarge: .tooLarge(limit: limit)
        case .malformed: .malformed(coding: coding.rawValue)
        }
    }
}

/// The reason why a body cannot be decoded.
package enum ContentDecodingError: Error, Equatable {
    /// The body does not have this coding, or is incomplete.
    case malformed(coding: String)
    /// The decoded body has more bytes than the limit.
    case tooLarge(limit: Int64)
    case cancelled
}
