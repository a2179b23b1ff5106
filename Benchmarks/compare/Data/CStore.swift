import CBaseline
import Foundation

/// A store accessed from C, for one thread at a time.
final class CStore {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let index: OpaquePointer
    private let blobs: Int32
    private var buffer: [UInt8]

    /// - Parameter directory: The directory of a store, or an empty directory for `baseline_bare`.
    init(_ directory: URL, _ use: baseline_use) throws {
        let path = directory.path(percentEncoded: false)
        mkdir(path, 0o700)
        mkdir(path + "/blobs", 0o700)
        guard let index = baseline_open(path + "/index.sqlite", use) else {
            throw Failure(description: "cannot open \(path)")
        }
        self.index = index
        blobs = open(path + "/blobs", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        buffer = []
    }

    deinit {
        baseline_close(index)
        close(blobs)
    }

    func lookup(_ key: String) -> baseline_row {
        var key = key
        return key.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { baseline_lookup(index, $0.baseAddress, Int32($0.count)) }
        }
    }

    /// Looks up and reads the body. Returns the sum of one byte of each page.
    func hit(_ key: String) throws -> Int {
        var row = lookup(key)
        guard row.byte_count >= 0 else { throw Failure(description: "no row") }
        if buffer.count < row.byte_count { buffer = [UInt8](repeating: 0, count: Int(row.byte_count)) }
        let count = withUnsafeBytes(of: &row.digest) { digest in
            baseline_read_blob(
                blobs, digest.baseAddress?.assumingMemoryBound(to: UInt8.self), &buffer, Int64(buffer.count))
        }
        guard count == row.byte_count else { throw Failure(description: "no body") }
        return buffer.withUnsafeBytes { pageSum($0[..<Int(count)]) }
    }

    func put(_ key: String, digest: [UInt8], _ body: Data, at now: Int64) throws {
        var key = key
        let result = key.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { text in
                body.withUnsafeBytes { body in
                    baseline_put(
                        index, blobs, text.baseAddress, Int32(text.count), digest,
                        body.baseAddress?.assumingMemoryBound(to: UInt8.self), Int64(body.count), now)
                }
            }
        }
        guard result == 0 else { throw Failure(description: "cannot put") }
    }

    func unlink(_ digest: [UInt8]) throws {
        guard baseline_unlink(blobs, digest) == 0 else { throw Failure(description: "cannot unlink") }
    }

    func freshen(_ key: String, _ row: baseline_row, at now: Int64) throws {
        var (key, row) = (key, row)
        let result = key.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) {
                baseline_freshen(index, $0.baseAddress, Int32($0.count), &row, now)
            }
        }
        guard result == 0 else { throw Failure(description: "cannot freshen") }
    }

    func evict(keeping count: Int) throws -> Int {
        let deleted = baseline_evict(index, blobs, Int64(count))
        guard deleted >= 0 else { throw Failure(description: "cannot evict") }
        return Int(deleted)
    }
}

/// Returns the sum of one byte of each page, which forces a mapped file to be read.
func pageSum(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    var sum = 0
    for offset in stride(from: bytes.startIndex, to: bytes.endIndex, by: 4096) { sum &+= Int(bytes[offset]) }
    return sum
}

func pageSum(_ data: Data) -> Int {
    data.withUnsafeBytes { pageSum($0[...]) }
}

/// Prevents the compiler from removing work without another effect.
func blackHole(_ value: Int) { baseline_keep(Int64(value)) }
