/// Sessions: each lasts for as long as anybody has the store open.
extension Connection {
    /// Ends the session before, if it has left entries. Called by who opens the store while nobody else has it open.
    ///
    /// From then on no lookup finds them; their rows are removed by ``removeLapsedEntries()``.
    ///
    /// - Returns: Whether there are any.
    package func beginSession() throws(SQLiteError) -> Bool {
        let hasEntries = try integer(prepared("SELECT EXISTS (SELECT 1 FROM entry WHERE session IS NOT NULL)")) == 1
        if hasEntries { try prepared("UPDATE state SET session = session + 1").run() }
        return hasEntries
    }

    /// Removes up to a bite of entries whose session is over; how many there were.
    package func removeLapsedEntries() throws(SQLiteError) -> Int {
        let statement = try prepared(
            """
            DELETE FROM entry WHERE id IN (
                SELECT id FROM entry WHERE session < (SELECT session FROM state) LIMIT ?1
            )
            """)
        defer { statement.reset() }
        statement.bind(Int64(Self.evictionBite), at: 1)
        while try statement.step() {}
        return changes
    }
}

/// Who is writing to the store. A process that was killed does not take itself off.
extension Connection {
    package func addUser() throws(SQLiteError) {
        try prepared("UPDATE state SET user_count = user_count + 1").run()
    }

    package func removeUser() throws(SQLiteError) {
        try prepared("UPDATE state SET user_count = max(0, user_count - 1)").run()
    }

    /// Whether somebody was killed. Called by who opens the store while nobody else has it open.
    package func clearUsers() throws(SQLiteError) -> Bool {
        guard try integer(prepared("SELECT user_count FROM state")) != 0 else { return false }
        do throws(SQLiteError) {
            try prepared("UPDATE state SET user_count = 0").run()
        } catch {
            // A full disk is to be opened all the same. Whoever is alone next takes this one for killed, too, and sweeps.
            guard error.isFull else { throw error }
        }
        return true
    }
}
