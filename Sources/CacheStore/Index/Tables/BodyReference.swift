/// A row that names a body.
struct BodyReference {
    enum Row {
        case entry(Int64)
        case derived(String, entry: Int64)
    }

    let row: Row
    let digest: ContentDigest?
    let byteCount: Int64
    /// Whether the file may be longer than the body.
    var isPart = false
}

extension BodyReference {
    init(_ entry: StoredEntry) {
        self.init(
            row: .entry(entry.id), digest: entry.digest, byteCount: entry.byteCount,
            isPart: entry.metadata.part != nil)
    }
}

extension Connection {
    /// Returns the rows that name one of the bodies. Reads every entry and every derived representation once.
    func rows(withBodies digests: Set<ContentDigest>) throws(StoreError) -> [ContentDigest: [BodyReference.Row]] {
        var rows: [ContentDigest: [BodyReference.Row]] = [:]
        for sql in [
            "SELECT body, id, NULL FROM entry WHERE body IS NOT NULL",
            "SELECT body, entry_id, name FROM derived WHERE body IS NOT NULL",
        ] as [StaticString] {
            let statement = try prepared(sql)
            defer { statement.reset() }
            while try statement.step() {
                guard let digest = statement.digest(0), digests.contains(digest) else { continue }
                let id = statement.int64(1)
                rows[digest, default: []].append(statement.textOrNil(2).map { .derived($0, entry: id) } ?? .entry(id))
            }
        }
        return rows
    }
}

extension WriteTransaction {
    /// Removes a row if it still has this body. Returns whether it has.
    func remove(_ row: BodyReference.Row, withBody digest: ContentDigest) throws(StoreError) -> Bool {
        switch row {
        case .derived(let name, let id):
            return try removeDerived(name, ofEntry: id, withBody: digest)
        case .entry(let id):
            // The damage was seen without the write lock, so the entry may have another body by now.
            let statement = try connection.prepared("SELECT 1 FROM entry WHERE id = ?1 AND body = ?2")
            statement.bind(id, at: 1)
            statement.bind(digest, at: 2)
            return try statement.integer() == 1 ? try removeEntry(id: id) : false
        }
    }
}
