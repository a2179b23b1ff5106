#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// An archive that comes from or goes to a descriptor of the caller: a file, a pipe, a socket.
///
/// What is written collects, so that small files take no system call each.
struct ArchiveStream: ~Copyable {
    private static let byteCount = 262_144

    /// A duplicate; the caller keeps its own.
    private let descriptor: FileDescriptor
    private let buffer: UnsafeMutableRawBufferPointer
    private var filled = 0

    init(_ number: Int32) throws(SystemError) {
        let name = "the archive"
        let duplicate = try FileDescriptor.retrying("fcntl", name) { fcntl(number, F_DUPFD_CLOEXEC, 0) }
        descriptor = FileDescriptor(number: duplicate, directory: name, name: "")
        buffer = .allocate(byteCount: Self.byteCount, alignment: 16)
    }

    deinit {
        buffer.deallocate()
    }

    // MARK: Writing

    mutating func write(_ bytes: some Collection<UInt8>) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if filled == buffer.count { try flush() }
            let part = rest.prefix(buffer.count - filled)
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyBytes(from: part)
            filled += part.count
            rest = rest.dropFirst(part.count)
        }
    }

    /// Writes the first `byteCount` bytes of a file; `false` if it is shorter.
    mutating func write(contentsOf file: FileDescriptor, byteCount: Int64) throws(SystemError) -> Bool {
        var offset: Int64 = 0
        while offset < byteCount {
            if filled == buffer.count { try flush() }
            let length = Int(min(byteCount - offset, Int64(buffer.count - filled)))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + length)])
            guard try file.read(into: part, at: offset) == length else { return false }
            filled += length
            offset += Int64(length)
        }
        return true
    }

    mutating func flush() throws(SystemError) {
        var rest = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
        while !rest.isEmpty {
            let count = try waiting("write", for: POLLOUT) { posixWrite(descriptor.number, rest) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        filled = 0
    }

    // MARK: Reading

    /// The next bytes, valid until the next call; empty at the end.
    mutating func read() throws(SystemError) -> UnsafeRawBufferPointer {
        let count = try waiting("read", for: POLLIN) { posixRead(descriptor.number, buffer) }
        return UnsafeRawBufferPointer(rebasing: buffer[..<count])
    }

    /// Repeats `call` on a descriptor that does not wait by itself.
    private func waiting(_ name: StaticString, for event: Int32, _ call: () -> Int) throws(SystemError) -> Int {
        while true {
            do throws(SystemError) {
                return try FileDescriptor.retrying(name, descriptor.path, call)
            } catch {
                guard error.errno == EAGAIN else { throw error }
                var wish = pollfd(fd: descriptor.number, events: Int16(event), revents: 0)
                poll(&wish, 1, -1)
            }
        }
    }
}

/// `write(2)` and `read(2)`, under names that methods do not hide.
private func posixWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

private func posixRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
