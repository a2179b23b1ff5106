import CSQLite
import TestSupport

@Suite("Connection and Statement")
struct StatementTests {
    let sandbox = Sandbox()
    let connection: Connection

    init() throws {
        connection = try Connection(
            path: sandbox.directory.path + "/test.sqlite", role: .writer, busyTimeout: .seconds(1), creates: true)
        try connection.execute("CREATE TABLE pair (a INTEGER PRIMARY KEY, b TEXT NOT NULL)")
    }

    func insert(_ number: Int64) throws {
        let statement = try connection.prepared("INSERT INTO pair VALUES (?1, ?2)")
        statement.bind(number, at: 1)
        statement.bind("text", at: 2)
        try statement.run()
    }

    @Test("a statement is prepared once for each connection")
    func kept() throws {
        for number in 0..<10 { try insert(Int64(number)) }
        #expect(connection.preparedSQL == ["INSERT INTO pair VALUES (?1, ?2)"])
        #expect(connection.changes == 1)
    }

    @Test("an error has code, extended code, message and statement, and the statement can run again")
    func errors() throws {
        try insert(1)
        let error = try #require(throws: StoreError.self) { try insert(1) }
        #expect(error.sqlite?.code == SQLITE_CONSTRAINT)
        #expect(error.sqlite?.extendedCode == SQLITE_CONSTRAINT | 6 << 8)
        #expect(error.sqlite?.message == "UNIQUE constraint failed: pair.a")
        #expect(error.sqlite?.sql == "INSERT INTO pair VALUES (?1, ?2)")
        #expect("\(error)".contains("1555"))
        #expect("\(error)".contains("pair.a"))
        try insert(2)
    }

    @Test("an error of preparing a statement has its text")
    func preparing() throws {
        let error = try #require(throws: StoreError.self) { try connection.prepare("SELECT * FROM nowhere") }
        #expect(error.sqlite?.code == SQLITE_ERROR)
        #expect(error.sqlite?.sql == "SELECT * FROM nowhere")
        #expect(error.sqlite?.message == "no such table: nowhere")
    }

    @Test("the code of a failure inside a transaction survives its rollback")
    func codeSurvivesRollback() throws {
        try insert(1)
        try connection.execute("BEGIN")
        #expect(connection.isInTransaction)
        let error = try #require(throws: StoreError.self) {
            do { try insert(1) } catch {
                try connection.execute("ROLLBACK")
                throw error
            }
        }
        #expect(error.sqlite?.code == SQLITE_CONSTRAINT)
        #expect(!connection.isInTransaction)
    }

    @Test("binding a value that is too large makes the run throw, without a trap, and leaves the statement usable")
    func tooBig() throws {
        connection.limitLength(to: 1_000)
        let statement = try connection.prepared("INSERT INTO pair VALUES (?1, ?2)")
        statement.bind(1, at: 1)
        statement.bind(String(repeating: "x", count: 1_001), at: 2)
        let error = try #require(throws: StoreError.self) { try statement.run() }
        #expect(error.sqlite?.code == SQLITE_TOOBIG)
        try insert(1)
    }

    @Test("a text keeps its bytes, including NUL and invalid UTF-8")
    func bytes() throws {
        let statement = try connection.prepared("SELECT ?1, length(CAST(?1 AS BLOB)), typeof(?1), ?2, typeof(?2)")
        statement.bind(textBytes: [0xff, 0x00, 0x80], at: 1)
        statement.bind("", at: 2)
        #expect(try statement.step())
        #expect(statement.textBytes(0) == [0xff, 0x00, 0x80])
        #expect(statement.int64(1) == 3)
        #expect(statement.text(2) == "text")
        #expect(statement.text(3) == "")
        #expect(statement.text(4) == "text")
        #expect(try !statement.step())
        statement.reset()
    }

    @Test("a digest is 32 bytes or nothing")
    func digest() throws {
        let statement = try connection.prepare("SELECT x'00', NULL, 'text', 5, zeroblob(32), zeroblob(33)")
        #expect(try statement.step())
        #expect((0..<6).map { statement.digest($0) != nil } == [false, false, false, false, true, false])
    }
}
