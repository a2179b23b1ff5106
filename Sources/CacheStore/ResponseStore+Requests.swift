/// Records requests in a file that all processes on the store share. The record contains the latest requests, 32,768 by
/// default, and overwrites the oldest. Once one process has switched it on, the caches and loaders of every process on
/// the store write to it. While it is off, a request only reads a coarse clock. Recording adds 7 percent to the
/// instructions of a hit, including those of the thread that writes the file. A record contains a URL with its query,
/// which may contain secrets: see ``RequestRecord``. `removeAll(.partition(user))` erases the requests of the partition,
/// and `clear()` all of them.
extension ResponseStore {
    /// Returns the state of the record, or `nil` without a record.
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

    /// Lets every process on the store record its requests. A running process notices within a second, at its next
    /// request.
    ///
    /// Continues an existing record. Begins a new one if the old one is damaged or has another capacity.
    ///
    /// - Parameter capacity: The number of requests in the record, 512 bytes each, from 1 to 4,194,304. `nil` keeps the
    ///   present capacity, or means 32,768.
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

    /// Ends the recording in every process. A running process notices within a second, or with its next write to the
    /// record.
    ///
    /// - Parameter discardsRecords: Whether to delete the record. Otherwise it stays readable.
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
    /// Reads the file on the calling thread, without a lock. A process writes its requests within a tenth of a second
    /// after their end.
    ///
    /// - Parameters:
    ///   - cursor: ``RequestRecords/next`` of the previous call, or ``RequestRecording/end``. `nil` starts at the
    ///     oldest request.
    ///   - limit: The most records to return.
    /// - Throws: ``StoreError/file(_:)``, ``StoreError/suspended``, ``StoreError/closed``.
    public func requestRecords(
        since cursor: RequestCursor? = nil, limit: Int = 1_024
    ) throws(StoreError) -> RequestRecords {
        try checkOpen()
        let ring = try RequestRing.open(in: place.root, isReadOnly: true)
        return try ring?.records(since: cursor, limit: limit) ?? RequestRecords()
    }

    /// Erases the records of the partition of a removal, or all records. A removal of only some entries leaves the
    /// record alone; in a store that deletes securely, it erases all records.
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

    /// Follows ``Configuration/recordsRequests``. Ignores errors: a record must not make the opening of the store fail.
    func applyRecordingChoice() {
        guard let records = configuration.recordsRequests, !configuration.isReadOnly else { return }
        do throws(StoreError) {
            if records { try startRecordingRequests() } else { try stopRecordingRequests() }
        } catch {
            observation.log.warning("could not switch the record of requests", ["error": "\(error)"])
        }
    }
}
