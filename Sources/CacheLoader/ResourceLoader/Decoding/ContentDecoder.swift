package import HTTPTypes

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Removes the content codings of a body while it arrives. For one reader.
package final class ContentDecoder {
    /// The codings in the order of their removal.
    private let steps: [(coding: ContentCoding, decompressor: any Decompressor)]
    private let limit: Int64
    private let url: String
    private var hasInput = false

    /// Returns `nil` if the fields name no coding, or an unknown one.
    ///
    /// - Parameter limit: The largest length of the decoded body in bytes. A few encoded bytes can expand to any length.
    package init?(_ fields: HTTPFields, limit: Int64, url: String) {
        guard let codings = ContentCoding.codings(fields) else { return nil }
        steps = codings.reversed().map { ($0, $0.makeDecompressor(limit: limit)) }
        self.limit = limit
        self.url = url
    }

    /// Returns the decoded bytes of the next chunk; none if they need more of the body.
    package func decode(_ chunk: Data) throws(LoadError) -> Data {
        var bytes = chunk
        for step in steps where !bytes.isEmpty {
            hasInput = true
            var output = Data()
            do throws(DecompressionFailure) {
                try step.decompressor.append(bytes, into: &output)
            } catch {
                throw translated(error, step.coding)
            }
            bytes = output
        }
        return bytes
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
