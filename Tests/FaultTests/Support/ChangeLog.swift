import TestSupport

/// The changes that a program made to the files below a directory, in order, as cfaults.h records them.
struct ChangeLog {
    /// A file or folder. Unlike inodes, numbers are never reused.
    struct File: Hashable {
        let number: Int

        /// The watched directory.
        static let root = File(number: 0)
    }

    enum Change {
        /// A line that the program wrote between two changes.
        case note(String)
        case create(File, isDirectory: Bool)
        case write(File, at: Int, [UInt8])
        case resize(File, to: Int)
        case link(File, in: File, name: String)
        case unlink(in: File, name: String)
        case rename(in: File, name: String, to: File, newName: String)
        case sync(File)
    }

    private(set) var changes: [Change] = []
    private var files: [UInt64: File] = [:]
    private var count = 0

    init(_ path: String) throws {
        var rest = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)[...]
        while !rest.isEmpty { try append(Record(&rest)) }
    }

    private mutating func append(_ record: Record) throws {
        switch record.kind {
        case 0: changes.append(.note(record.name))
        case 1, 3:
            let file = add(record.file)
            changes.append(.create(file, isDirectory: record.kind == 3))
            if file != .root { changes.append(.link(file, in: try found(record.directory), name: record.name)) }
        case 2: changes.append(.create(add(record.file), isDirectory: false))
        case 4: changes.append(.write(try found(record.file), at: Int(record.at), record.data))
        case 5: changes.append(.resize(try found(record.file), to: Int(record.at)))
        case 6: changes.append(.sync(try found(record.file)))
        case 7: changes.append(.link(try found(record.file), in: try found(record.directory), name: record.name))
        case 8: changes.append(.unlink(in: try found(record.directory), name: record.name))
        case 9:
            changes.append(
                .rename(
                    in: try found(record.directory), name: record.name, to: try found(record.at),
                    newName: String(decoding: record.data, as: UTF8.self)))
        default: throw Failure("a record of kind \(record.kind)")
        }
    }

    /// Maps the inode to the file from now on.
    private mutating func add(_ inode: UInt64) -> File {
        let file = File(number: count)
        count += 1
        files[inode] = file
        return file
    }

    private func found(_ inode: UInt64) throws -> File {
        guard let file = files[inode] else { throw Failure("inode \(inode) was never made") }
        return file
    }

    /// `struct cfaults_record`, and the name and data that follow it.
    private struct Record {
        let kind, file, directory, at: UInt64
        let name: String
        let data: [UInt8]

        init(_ rest: inout Data) throws {
            func take(_ count: Int) throws -> [UInt8] {
                guard rest.count >= count else { throw Failure("the record ends too early") }
                defer { rest = rest.dropFirst(count) }
                return Array(rest.prefix(count))
            }
            let words = try take(48).withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
            (kind, file, directory, at) = (words[0], words[1], words[2], words[3])
            name = String(decoding: try take(Int(words[4])), as: UTF8.self)
            data = try take(Int(words[5]))
        }
    }
}
