/// Puts a whole store into one file.
extension ResponseStore {
    /// Writes the store to `descriptor` as a tar archive: `index.sqlite`, then the files of its bodies, under their names.
    ///
    /// The archive is of one moment, whatever others store and remove meanwhile: the index is copied first, to the system's
    /// directory for temporary files, then come the bodies that the copy names. A body that is evicted before its turn is
    /// left out, and `importArchive(from:into:)` leaves out its entries. Takes no lock that lookups or writers wait for,
    /// and no more memory for a large store than for a small one. Uses noted in memory are not in it; `flush()` writes
    /// them.
    ///
    /// It holds responses as they were stored, personal ones too.
    ///
    /// - Parameter descriptor: A file, a pipe or a socket, open for writing; it is left open. Where its reader may leave
    ///   early, ignore `SIGPIPE`: then that is an error.
    /// - Throws: ``StoreError/file(_:)``, ``StoreError/index(_:)``, ``StoreError/truncatedBody(path:)``;
    ///   ``StoreError/suspended`` and ``StoreError/closed`` if the store is before its index is copied. What has been written then is
    ///   no archive.
    @discardableResult
    public func exportArchive(to descriptor: Int32) throws(StoreError) -> ArchiveReport {
        try checkOpen()
        let index = try inquiries.inquire { (interruption) throws(StoreError) in
            try IndexCopy(of: indexPath, until: interruption)
        }
        var report = ArchiveReport()
        var archive = try mapping { () throws(SystemError) in try ArchiveStream(descriptor) }
        let file = try mapping { () throws(SystemError) in
            let file = try index.open()
            return (descriptor: file, byteCount: try file.status().size)
        }
        try append("index.sqlite", file.descriptor, file.byteCount, to: &archive)
        try index.forEachFile { (digest, byteCount, entries) throws(StoreError) in
            guard
                let (body, _) = try mapping({ () throws(SystemError) in try blobs.open(digest, byteCount: byteCount) })
            else {
                report.entriesLeftOut += entries
                return
            }
            try append(BlobPath(digest).relativePath, body, byteCount, to: &archive)
            report.files += 1
            report.bytes += byteCount
        }
        let entries = try mapping(indexPath) { () throws(SQLiteError) in try index.entryCount() }
        report.entries = max(0, entries - report.entriesLeftOut)
        try mapping { () throws(SystemError) in
            try archive.write(TarWriter.end)
            try archive.flush()
        }
        return report
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func exportArchive(to descriptor: Int32) async throws(StoreError) -> ArchiveReport {
        // Not on the lane for maintenance: who reads the archive slowly must not hold up evictions.
        try await BlockingLane(label: "CacheStore.export").run { () throws(StoreError) in
            try self.exportArchive(to: descriptor)
        }
    }

    private func append(
        _ name: String, _ file: FileDescriptor, _ byteCount: Int64, to archive: inout ArchiveStream
    ) throws(StoreError) {
        let entry = TarEntry(name: name, byteCount: byteCount)
        let header = TarWriter.header(of: entry, modifiedAt: now / 1000)
        let isWhole = try mapping { () throws(SystemError) in
            try archive.write(header)
            guard try archive.write(contentsOf: file, byteCount: byteCount) else { return false }
            try archive.write(repeatElement(0, count: entry.paddingByteCount))
            return true
        }
        // Its length is in the header already.
        guard isWhole else { throw .truncatedBody(path: file.path) }
    }
}
