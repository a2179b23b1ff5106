package import CacheFoundation
package import HTTPTypes

/// Removes the content codings of a body while it arrives. For one reader.
package final class ContentDecoder {
    /// The codings in the order of their removal.
    private var steps: [(coding: ContentCoding, step: DecompressionStep)]
    private let limit: Int64
    private let url: String
    private var hasInput = false

    /// Returns `nil` if the fields name no coding, or an unknown one.
    ///
    /// - Parameter limit: The largest length of the decoded body in bytes. A few encoded bytes can expand to any length.
    package init?(_ fields: HTTPFields, limit: Int64, url: String) {
        guard let codings = ContentCoding.codings(fields) else { return nil }
        steps = codings.reversed().map { ($0, DecompressionStep($0.makeDecompressor(limit: limit))) }
        self.limit = limit
        self.url = url
    }

    /// Returns the decoded bytes of the next chunk; none if they need more of the body.
    package func decode(_ chunk: Data) throws(LoadError) -> Data {
        append(chunk)
        var bytes = Data()
        guard steps.count == 1 else {
            while let piece = try nextPiece() { bytes += piece }
            return bytes
        }
        // Without the copies that several codings need.
        do throws(DecompressionFailure) {
            try steps[0].step.drain(into: &bytes)
            return bytes
        } catch {
            throw translated(error, steps[0].coding)
        }
    }

    /// Takes the next chunk of the body, whose decoded bytes ``next()`` returns. Call it after ``next()`` returned `nil`.
    package func append(_ chunk: Data) {
        hasInput = hasInput || !chunk.isEmpty
        steps[0].step.append(chunk)
    }

    /// Returns the next decoded bytes, up to 64 KiB and never empty; `nil` if they need more of the body.
    ///
    /// Decodes no further than these bytes: a chunk that stands for gigabytes does not take them. Throws
    /// ``LoadError/cancelled`` after a cancellation of the task.
    package func next() throws(LoadError) -> Data? {
        try nextPiece { Task.isCancelled }
    }

    private func nextPiece(isCancelled: () -> Bool = { false }) throws(LoadError) -> Data? {
        while let index = steps.lastIndex(where: { !$0.step.isIdle }) {
            // A coding inside another may use any number of bytes, and yield none.
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

    /// Throws if the body is incomplete. An empty body belongs to a response without content, such as one to HEAD, even
    /// if its fields name a coding.
    package func finish() throws(LoadError) {
        guard hasInput else { return }
        for (coding, step) in steps {
            do throws(DecompressionFailure) {
                try step.finish()
            } catch {
                throw translated(error, coding)
            }
        }
    }

    private func translated(_ error: DecompressionFailure, _ coding: ContentCoding) -> LoadError {
        switch error {
        case .tooLarge: .bodyTooLarge(url: url, limit: limit)
        case .malformed: .malformedContent(url: url, coding: coding.rawValue)
        }
    }
}
