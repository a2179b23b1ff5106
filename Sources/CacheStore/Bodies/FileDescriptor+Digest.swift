internal import Crypto

extension FileDescriptor {
    /// Returns the SHA-256 of the first `byteCount` bytes, or `nil` for a shorter file.
    func digest(byteCount: Int64) throws(StoreError) -> ContentDigest? {
        var hasher = SHA256()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(min(byteCount, 262_144)), alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while offset < byteCount {
            let length = Int(min(byteCount - offset, Int64(buffer.count)))
            let chunk = UnsafeMutableRawBufferPointer(rebasing: buffer[..<length])
            guard try read(into: chunk, at: offset) == length else { return nil }
            hasher.update(bufferPointer: UnsafeRawBufferPointer(chunk))
            offset += Int64(length)
        }
        return ContentDigest(hasher.finalize())
    }
}
