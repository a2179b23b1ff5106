internal import CacheFoundation
internal import CacheStore
internal import Synchronization

extension StoredAnswer.Segment {
    fileprivate var byteCount: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .stored(let range): range.upperBound - range.lowerBound
        }
    }
}

/// Delivers a stored body, or segments of it, in chunks. Any number of iterators read it, each from its start.
final class StoredBodyReader: Sendable {
    /// The position of an iterator.
    struct Place {
        fileprivate var segment = 0
        fileprivate var offset: Int64 = 0
    }

    private let body: StoredBody
    private let segments: [StoredAnswer.Segment]
    private let meters: CacheMeters
    private let recorded: RecordedRequest?
    let byteCount: Int64
    private let isCancelled = Atomic(false)

    /// Delivers `segments`, or the whole body for `nil`.
    init(
        _ body: StoredBody, _ meters: CacheMeters, _ recorded: RecordedRequest?,
        segments: [StoredAnswer.Segment]? = nil
    ) {
        self.body = body
        self.meters = meters
        self.recorded = recorded
        self.segments = segments ?? [.stored(0..<body.byteCount)]
        byteCount = self.segments.reduce(0) { $0 + $1.byteCount }
    }

    /// Ends the reading. Later reads throw ``LoadError/cancelled``.
    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        recorded?.end()
    }

    /// The file, if the reader delivers all of it.
    var file: StoredBody? { segments == [.stored(0..<body.byteCount)] ? body : nil }

    /// Returns the chunk at `place`, and sets `place` to the next chunk. Returns `nil` at the end.
    func next(_ place: inout Place) throws(LoadError) -> Data? {
        guard !isCancelled.load(ordering: .relaxed) else { throw .cancelled }
        do throws(StoreError) {
            while place.segment < segments.count {
                let chunk = try chunk(of: segments[place.segment], from: place.offset)
                place.offset += Int64(chunk.count)
                if chunk.isEmpty || place.offset >= segments[place.segment].byteCount {
                    place = Place(segment: place.segment + 1)
                }
                if !chunk.isEmpty { return chunk }
            }
        } catch {
            throw .store(error)
        }
        recorded?.end()
        return nil
    }

    private func noteRead(_ byteCount: Int) {
        meters.diskBytes.add(Int64(byteCount))
        recorded?.addDiskBytes(byteCount)
    }

    private func chunk(of segment: StoredAnswer.Segment, from offset: Int64) throws(StoreError) -> Data {
        switch segment {
        case .bytes(let bytes): return Data(bytes)
        case .stored(let range):
            let count = min(Int64(ResponseBody.chunkByteCount), range.upperBound - range.lowerBound - offset)
            let chunk = try body.bytes(at: range.lowerBound + offset, count: Int(count))
            noteRead(chunk.count)
            return chunk
        }
    }

    /// Returns all bytes. Maps a large whole body instead of copying it.
    func data() throws(LoadError) -> Data {
        guard !isCancelled.load(ordering: .relaxed) else { throw .cancelled }
        defer { recorded?.end() }
        return try LoadError.wrapping { () throws(StoreError) in
            if let file {
                let data = try file.data()
                noteRead(data.count)
                return data
            }
            var data = Data()
            for segment in segments {
                switch segment {
                case .bytes(let bytes): data += bytes
                case .stored(let range):
                    let bytes = try body.bytes(at: range.lowerBound, count: Int(range.upperBound - range.lowerBound))
                    noteRead(bytes.count)
                    data += bytes
                }
            }
            return data
        }
    }
}
