package import HTTPTypes

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Removes the content codings of a body while it arrives. For one reader.
package final class ContentDecoder {
    /// The codings in the order of their removal.
    private var steps: [Step]
    private let limit: Int64
    private let url: String
    private var hasInput = false

    private struct Step {
        let coding: ContentCoding
        let decompressor: any Decompressor
        /// Bytes that are not decoded yet.
        var rest = Data()

        init(_ coding: ContentCoding, limit: Int64) {
            self.coding = coding
            decompressor = coding.makeDecompressor(limit: limit)
        }
    }

    /// Returns `nil` if the fields name no coding, or an unknown one.
    ///
    /// - Parameter limit: The largest length of the decoded body in bytes. A few encoded bytes can expand to any length.
    package init?(_ fields: HTTPFields, limit: Int64, url: String) {
        guard let codings = ContentCoding.codings(fields) else { return nil }
        steps = codings.reversed().map { Step($0, limit: limit) }
        self.limit = limit
        self.url = url
    }

    /// Returns the decoded bytes of the next chunk; none if they need more of the body.
    package func decode(_ chunk: Data) throws(LoadError) -> Data {
        var bytes = chunk
        for step in steps where !bytes.isEmpty { bytes = try decode(bytes, step) }
        return bytes
    }

    /// Takes the next chunk of the body, whose decoded bytes ``next()`` returns. Call it after ``next()`` returned `nil`.
    package func append(_ chunk: Data) {
        steps[0].rest = chunk
    }

    /// Returns the next decoded bytes, never empty; `nil` if they need more of the body.
    ///
    /// Decodes a slice at a time: a chunk that stands for gigabytes does not take them.
    package func next() throws(LoadError) -> Data? {
        while let index = steps.lastIndex(where: { !$0.rest.isEmpty }) {
            let step = steps[index]
            let slice = Data(step.rest.prefix(type(of: step.decompressor).sliceByteCount))
            steps[index].rest = step.rest.dropFirst(slice.count)
            let decoded = try decode(slice, step)
            if decoded.isEmpty { continue }
            guard index < steps.count - 1 else { return decoded }
            steps[index + 1].rest = decoded
        }
        return nil
    }

    private func decode(_ bytes: Data, _ step: Step) throws(LoadError) -> Data {
        hasInput = true
        var output = Data()
        do throws(DecompressionFailure) {
            try step.decompressor.append(bytes, into: &output)
        } catch {
            throw translated(error, step.coding)
        }
        return output
    }

    /// Throws if the body is incomplete. An empty body belongs to a response without content, such as one to HEAD, even
    /// if its fields name a coding.
    package func finish() throws(LoadError) {
        guard hasInput else { return }
        for step in steps {
            do throws(DecompressionFailure) {
                try step.decompressor.finish()
            } catch {
                throw translated(error, step.coding)
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
