internal import CPlatform
public import CacheFoundation

/// The body of a stored response, open for reading.
///
/// The body stays readable after its entry is evicted or replaced, by any process: only the name of the file is
/// deleted. Any number of threads may read the body at the same time.
public final class StoredBody: Sendable {
    /// The size from which ``data()`` maps the file instead of copying it: two mebibytes, one huge page, which the
    /// kernel maps in one step. The kernel maps a smaller file page by page, which takes longer than a copy.
    public static let mappingThreshold: Int64 = 2_097_152

    /// The length in bytes.
    public let byteCount: Int64

    /// The SHA-256 of the bytes, or `nil` for an empty body.
    public let digest: ContentDigest?

    /// The file with the bytes, or `nil` for an empty body and for a body that a ``BodyWriter`` holds. The file may be
    /// deleted as soon as the entry is removed. The file of a part may continue after the first ``byteCount`` bytes.
    public var fileURL: URL? {
        guard let descriptor, isNamed else { return nil }
        // The hint saves a call to the file system.
        return URL(filePath: descriptor.path, directoryHint: .notDirectory)
    }

    /// The file, or `nil` for an empty body.
    package let descriptor: FileDescriptor?
    private let isNamed: Bool

    init(descriptor: FileDescriptor, digest: ContentDigest, byteCount: Int64, isNamed: Bool = true) {
        self.descriptor = descriptor
        self.isNamed = isNamed
        self.digest = digest
        self.byteCount = byteCount
    }

    /// Creates an empty body.
    package init() {
        descriptor = nil
        isNamed = false
        digest = nil
        byteCount = 0
    }

    /// Returns all bytes, copied or, from ``mappingThreshold`` on, mapped.
    ///
    /// - Throws: ``StoreError/truncatedBody(path:)``, ``StoreError/file(_:)``.
    public func data() throws(StoreError) -> Data {
        guard let descriptor, byteCount >= Self.mappingThreshold else { return try bytes(at: 0, count: Int(byteCount)) }
        return try map(descriptor)
    }

    /// Returns a copy of up to `count` bytes from `offset`. Returns fewer only at the end.
    ///
    /// - Throws: ``StoreError/truncatedBody(path:)``, ``StoreError/file(_:)``.
    public func bytes(at offset: Int64, count: Int) throws(StoreError) -> Data {
        precondition(offset >= 0 && count >= 0, "offset and count count bytes")
        let length = Int(min(Int64(count), max(0, byteCount - offset)))
        guard length > 0, let descriptor else { return Data() }
        return try read(descriptor, length, at: offset)
    }

    private func read(_ descriptor: FileDescriptor, _ length: Int, at offset: Int64) throws(StoreError) -> Data {
        // `Data` takes over this allocation. `Data(count:)` would fill it with zeros first.
        let start = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 16)
        do throws(StoreError) {
            let buffer = UnsafeMutableRawBufferPointer(start: start, count: length)
            let count = try descriptor.read(into: buffer, at: offset)
            guard count == length else {
                throw .truncatedBody(path: descriptor.path)
            }
        } catch {
            start.deallocate()
            throw error
        }
        return Data(bytesNoCopy: start, count: length, deallocator: .custom { start, _ in start.deallocate() })
    }

    private func map(_ descriptor: FileDescriptor) throws(StoreError) -> Data {
        let length = Int(byteCount)
        // Check the length: reading a mapped page beyond the end of a truncated file raises SIGBUS.
        guard try descriptor.status().size >= byteCount else {
            throw .truncatedBody(path: descriptor.path)
        }
        guard let start = mmap(nil, length, PROT_READ, MAP_PRIVATE, descriptor.number, 0), start != MAP_FAILED else {
            throw .file(SystemError(call: "mmap", path: descriptor.path, errno: errno))
        }
        return Data(bytesNoCopy: start, count: length, deallocator: .custom { start, length in munmap(start, length) })
    }
}
