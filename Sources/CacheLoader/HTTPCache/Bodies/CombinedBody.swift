internal import CacheStore

/// Combines stored parts and a new part into one body.
enum CombinedBody {
    /// A range of bytes to copy, by the position in the file of its source.
    struct Piece: Sendable {
        /// `nil` for the new part.
        let entry: StoredEntry?
        let range: Range<Int64>

        init(_ piece: CombinedPart.Piece, new: StoredPart, entries: [StoredEntry]) {
            let start: Int64
            switch piece.source {
            case .new:
                entry = nil
                start = new.bytes.lowerBound
            case .stored(let index):
                entry = entries[index]
                start = entries[index].metadata.part?.start ?? 0
            }
            range = (piece.range.lowerBound - start)..<(piece.range.upperBound - start)
        }
    }

    /// Returns the combined body, or `nil` when a stored part no longer exists.
    static func make(
        _ pieces: [Piece], new: BodyWriter, in store: ResponseStore
    ) async throws(StoreError) -> BodyWriter? {
        let writer = store.makeBodyWriter()
        for piece in pieces {
            guard let entry = piece.entry else {
                try await writer.append(new.written(), piece.range)
                continue
            }
            guard let body = try store.openBody(of: entry) else { return nil }
            try await writer.append(body, piece.range)
        }
        return writer
    }
}
