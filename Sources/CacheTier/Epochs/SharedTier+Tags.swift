internal import CacheFoundation
internal import HTTPCaching
internal import HTTPTypes
internal import Synchronization

/// Epochs of tags: the names in `Cache-Groups` (RFC 9875).
///
/// The tags of a response are known only after the origin was asked, so their epochs may already include a removal that
/// came after the response. So each removal of a tag first replaces an epoch that all tags share, and a fill compares
/// that epoch:
///
///     fill:     read common c0 ─▶ ask the origin ─▶ read tag t ─▶ read common c: c = c0? ─▶ write record(t)
///     removal:                     write common c1 ─▶ write tag t1
///
/// With `c = c0`, no removal has written the epoch of its tag between the request to the origin and the read of `t`. So
/// `t` is from before the request, or the next removal replaces it.
extension SharedTier {
    /// Reads the epochs of the tags of records, in parallel.
    func presentTagEpochs(of candidates: [Candidate], _ url: String) async -> PresentEpochs {
        let names = Set(candidates.flatMap { tagEpochs(of: $0, url) })
        return names.isEmpty ? PresentEpochs() : await presentEpochs(Array(names))
    }

    /// Returns the names of the epochs of a record's tags.
    func tagEpochs(of candidate: Candidate, _ url: String) -> [String] {
        Array(layout.tagEpochs(of: candidate.record.head.response.fields, url: url).prefix(TierLayout.maxTagCount))
    }

    /// Returns the epochs of the tags of a new record, and writes those that the engine lacks.
    ///
    /// Returns `nil` with an unknown epoch, and if a removal of a tag has begun since the lookup. Then the record is
    /// not written.
    func tagEpochs(of response: StoredResponse, _ url: String, after lookup: Lookup) async -> [String]? {
        let names = layout.tagEpochs(of: response.fields, url: url)
        guard !names.isEmpty else { return [] }
        guard let common = lookup.commonTagEpoch else { return nil }
        await writeMissing(presentEpochs(names).missing)
        guard let values = knownEpochs(names) else { return nil }
        // Does not join a read that began before the reads of the tags ended.
        let start = configuration.uptime()
        let reading = await readEpoch(layout.commonTagEpoch, start, within: configuration.writeDeadline)
        guard case .value(common) = reading else { return nil }
        return values
    }
}
