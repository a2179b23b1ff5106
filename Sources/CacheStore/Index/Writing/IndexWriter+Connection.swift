internal import Synchronization

/// The state of the writer's connection.
enum WriterConnection {
    /// The connection is open. `isRegistered` says whether the index counts this process as a writer.
    case open(Connection, FileIdentity?, isRegistered: Bool)
    /// Every change throws the error, because the store is read-only, suspended or closed.
    case refusing(StoreError)
}

/// Opens, registers, recovers, suspends and closes the writer's connection.
extension IndexWriter {
    /// How long closing waits for locks of other processes.
    private static let closingTimeout = Duration.milliseconds(50)

    /// Calls `body` with the connection. Reopens the connection first if another index has replaced the old one. With
    /// `registers`, the index first counts this process as a writer, as before naming a file.
    func use<Value: Sendable>(
        _ state: inout sending WriterConnection, registers: Bool = true,
        _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        if case .open(_, let file, _) = state, dependencies.directory.indexIdentity != file {
            indexWasReplaced(try open(&state))
        }
        switch state {
        case .open(let connection, let file, let isRegistered):
            if registers, !isRegistered {
                // Commit the registration before any file is named, because a kill could leave the file without a row.
                try writeLock.withLock(within: connection.busyTimeout) { () throws(StoreError) in
                    try connection.registerWriter()
                }
                state = .open(connection, file, isRegistered: true)
            }
            return try body(connection)
        case .refusing(let error): throw error
        }
    }

    /// Recovers an index in which a connection has seen damage: quarantines it if it is damaged, then reopens it. A
    /// caller that waits for another caller's recovery does not recover again.
    package func recover() throws(StoreError) {
        let count = recoveryCount.load(ordering: .acquiring)
        try recovery.withLock { _ throws(StoreError) in
            guard recoveryCount.load(ordering: .relaxed) == count else { return }
            let file = connection.withLock { state in
                if case .open(_, let file, _) = state { file } else { nil as FileIdentity? }
            }
            guard let file else { return }
            try dependencies.directory.quarantineIndex(
                ifDamaged: file, dependencies.configuration, dependencies.observation.log, stop: stop)
            let killedWriters = try connection.withLock { (state) throws(StoreError) -> Int64 in
                guard case .open(_, _, let wasRegistered) = state else { return 0 }
                let killedWriters = try open(&state)
                // The same index still counts this process as a writer.
                if wasRegistered, case .open(let connection, file, _) = state {
                    state = .open(connection, file, isRegistered: true)
                }
                return killedWriters
            }
            if dependencies.directory.indexIdentity != file {
                indexWasReplaced(killedWriters)
            } else {
                // Only a connection's copy of pages was damaged.
                dependencies.indexWasReplaced(killedWriters)
            }
            recoveryCount.add(1, ordering: .releasing)
        }
    }

    private func indexWasReplaced(_ killedWriters: Int64) {
        // The accesses belong to entries of the old index, whose ids other entries have now.
        accessLog.reset()
        dependencies.indexWasReplaced(killedWriters)
    }

    /// Opens the index. Returns the number of killed writers that the index counts until a sweep has finished.
    private func open(_ state: inout sending WriterConnection) throws(StoreError) -> Int64 {
        // Wait for a checkpoint, which has the old file open.
        checkpointer.wait()
        try dependencies.reopenReplacedDirectory()
        let opened = try dependencies.directory.openIndex(
            dependencies.configuration, dependencies.observation.log, stop: stop)
        let killedWriters = opened.work.killedWriters
        state = .open(opened.connection, opened.identity, isRegistered: false)
        return killedWriters
    }

    /// Writes pending accesses and closes the connection. Waits at most 50 ms for locks. Later changes throw `error`;
    /// after `suspended`, until ``resume()``.
    func end(with error: StoreError) {
        // Set the error first: a job that the flag ends reports this error in place of `busy`.
        refusal.withLock { $0 = error }
        // Makes a leader that waits for a lock or a checkpoint give up.
        stop.set(true)
        checkpointer.end()
        writeLock.limitWaits(to: Self.closingTimeout)
        connection.withLock { state in
            finish(&state)
            // A suspended read-only store stays read-only.
            if case .refusing = state, error == .suspended { return }
            state = .refusing(error)
        }
        // Wait for a recovery, which opens a second connection. A later recovery finds the writer closed and opens
        // none.
        recovery.withLock { _ in }
    }

    /// Reopens the connection of a suspended store.
    func resume() throws(StoreError) {
        refusal.withLock { $0 = nil }
        stop.set(false)
        checkpointer.begin()
        writeLock.limitWaits(to: nil)
        try connection.withLock { (state) throws(StoreError) in
            guard case .refusing(.suspended) = state else { return }
            // These accesses could not be written before the suspension. Another process may have replaced the index
            // since, and then other entries have their ids.
            accessLog.reset()
            // If the opening has created an index, its count of killed writers makes the next only opener sweep.
            _ = try open(&state)
        }
    }

    private func finish(_ state: inout sending WriterConnection) {
        // A closed or suspended store has no files open.
        defer {
            checkpointer.wait()
            writeLock.close()
        }
        guard case .open(let connection, _, let isRegistered) = state else { return }
        let deletion = dependencies.deletion
        // Do not register a writer only to unregister it.
        guard isRegistered || !accessLog.isEmpty || deletion.hasFiles else { return }
        connection.busyTimeout = Self.closingTimeout
        // The flag would end the wait for the lock of this last transaction.
        stop.set(false)
        defer { stop.set(true) }
        // If another process keeps the lock, pending accesses are dropped.
        _ = transact(
            [
                Job(
                    run: { (transaction) throws(StoreError) in
                        try transaction.writeAccesses()
                        // The count remains while files are left to delete, so that the next only opener sweeps.
                        switch (isRegistered, deletion.hasFiles) {
                        case (true, false): try transaction.connection.unregisterWriter()
                        case (false, true): try transaction.connection.registerWriter()
                        default: break
                        }
                    }, placedBody: nil, finish: { _ in })
            ], connection)
    }
}
