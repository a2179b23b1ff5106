/// Records requests, in a file that all processes on the store share.
///
/// The record holds the latest requests, 32,768 of them by default, and overwrites the oldest. The caches and loaders
/// on the store write it, in every process, as soon as one process has switched it on. Until then a request reads a
/// coarse clock, and nothing else. Recording adds 7 in a hundred to the instructions of a hit, those of the thread that
/// writes the file included.
///
/// A record has a URL with its query, which may hold secrets: see ``RequestRecord``. `removeAll(partition:)` erases the
/// requests of the partition, and `clear()` all of them.
extension ResponseStore {
    /// Returns the state of the record; `nil` if the store has none.
    ///
    /// - Throws: ``StoreError/file(_:)``, ``StoreError/suspended``, ``StoreError/closed``.
    public func requestRecording() throws(StoreError) -> RequestRecording? {
        try checkOpen()
        guard let ring = try RequestRing.open(in: place.root, isReadOnly: true), let header = try ring.header()
        else {
            return nil
        }
        return RequestRecording(
            isOn: header.isOn, capacity: Int(header.capacity), count: Int64(header.next - header.oldest),
            lost: Int64(header.oldest), byteCount: try ring.byteCount(),
            end: RequestCursor(file: header.file, number: header.next))
    }

    /// Lets every process on the store record its requests. A process that is running notices within a second, at its
    /// next request.
    ///
    /// Continues the record that the store has. Begins a new one if that is damaged, or has another capacity.
    ///
    /// - Parameter capacity: The number of requests that the record can hold, 512 bytes each, from 1 to 4,194,304;
    ///   `nil` for the present one, or 32,768.
    /// - Throws: ``StoreError/file(_:)``, ``StoreError/busy(path:)``, ``StoreError/readOnly(path:)``,
    ///   ``StoreError/suspended``, ``StoreError/closed``.
    public func startRecordingRequests(capacity: Int? = nil) throws(StoreError) {
        try checkWritable()
        let ring = try RequestRing.open(in: place.root, creates: true)
        guard let ring else { return }
        try change(ring) { (header) throws(StoreError) in
            if var header, capacity.map({ $0 == Int(header.capacity) }) ?? true {
                header.isOn = true
                try ring.write(header)
            } else {
                try ring.reset(RequestRingHeader(capacity: capacity ?? RequestRing.standardCapacity))
            }
        }
        requests.look()
    }

    /// Ends the recording in every process. A process that is running notices within a second, or with its next write
    /// to the record.
    ///
    /// - Parameter discardsRecords: Whether to delete the record. Otherwise it stays, and can be read.
    /// - Throws: The errors of ``startRecordingRequests(capacity:)``.
    public func stopRecordingRequests(discardsRecords: Bool = false) throws(StoreError) {
        try checkWritable()
        requests.flush()
        if let ring = try RequestRing.open(in: place.root) {
            try change(ring) { (header) throws(StoreError) in
                if var header {
                    header.isOn = false
                    try ring.write(header)
                }
                if discardsRecords { try place.root.unlink(RequestRing.name) }
            }
        }
        requests.look()
    }

    /// Returns the recorded requests since a position, oldest first.
    ///
    /// ```swift
    /// var cursor: RequestCursor?
    /// while true {
    ///     let page = try store.requestRecords(since: cursor)
    ///     for record in page.records { print(record.outcome, record.url) }
    ///     cursor = page.next
    ///     try await Task.sleep(for: .milliseconds(200))
    /// }
    /// ```
    ///
    /// Reads the file on the calling thread and takes no lock. A process writes its requests within a tenth of a second
    /// after their end.
    ///
    /// - Parameters:
    ///   - cursor: ``RequestRecords/next`` of the previous call, or ``RequestRecording/end``; `nil` for the oldest
    ///     request.
    ///   - limit: The most records to return.
    /// - Throws: ``StoreError/file(_:)``, ``StoreError/suspended``, ``StoreError/closed``.
    public func requestRecords(
        since cursor: RequestCursor? = nil, limit: Int = 1_024
    ) throws(StoreError) -> RequestRecords {
        try checkOpen()
        let ring = try RequestRing.open(in: place.root, isReadOnly: true)
        return try ring?.records(since: cursor, limit: limit) ?? RequestRecords()
    }

    /// Erases the records of a removal of a whole partition, or of everything. Other removals leave the record alone,
    /// unless the store deletes securely: then they erase all of it.
    func eraseRequests(of selection: EntrySelection) throws(StoreError) {
        if let partition = selection.partition, selection == .partition(partition) {
            try eraseRequests(.partition(partition))
        } else if selection == .everything || configuration.secureDelete {
            try eraseRequests(.everything)
        }
    }

    func eraseRequests(_ erasure: RequestRing.Erasure) throws(StoreError) {
        let ring = try RequestRing.open(in: place.root)
        guard let ring else { return }
        try change(ring) { (_) throws(StoreError) in try ring.erase(erasure) }
        requests.look()
    }

    /// Calls `body` with the header of the record while no other process changes it.
    private func change(
        _ ring: RequestRing, _ body: (RequestRingHeader?) throws(StoreError) -> Void
    ) throws(StoreError) {
        let isDone: Void? = try ring.withLock(within: configuration.busyTimeout) { () throws(StoreError) in
            try body(ring.header())
        }
        if isDone == nil { throw .busy(path: place.path + "/" + RequestRing.name) }
    }

    /// Follows ``Configuration/recordsRequests``. Opening a store must not fail because of its record.
    func applyRecordingChoice() {
        guard let records = configuration.recordsRequests, !configuration.isReadOnly else { return }
        do throws(StoreError) {
            if records { try startRecordingRequests() } else { try stopRecordingRequests() }
        } catch {
            observation.log.warning("could not switch the record of requests", ["error": "\(error)"])
        }
    }
}
