internal import CPlatform

/// The ballast: a file of 1 MiB that a store deletes when the disk is full. An eviction needs room for its commit, and
/// frees space only after it.
extension StoreDirectory {
    static let ballastByteCount = 1 << 20

    /// The number of free bytes below which no ballast is created, because the ballast must not fill the disk.
    private static let reserveByteCount: Int64 = 8 << 20

    /// Creates the ballast, unless it exists or the disk is almost full. Names it only when its bytes are written, so
    /// that two processes do not disturb each other.
    func makeBallast(staging blobs: BlobDirectory) {
        guard (try? root.status(of: "ballast"))?.map(\.size) != Int64(Self.ballastByteCount),
            freeByteCount >= Self.reserveByteCount
        else { return }
        // Write bytes, because a file with only a length takes no space.
        let zeros = [UInt8](repeating: 0, count: Self.ballastByteCount)
        // The first attempt may show that this process cannot name unnamed files. The second one stages a named file.
        for _ in 0..<2 {
            guard let file = try? blobs.stage() else { return }
            let descriptor = file.descriptor
            guard (try? zeros.withUnsafeBytes { try descriptor.write($0) }) != nil else { return }
            _ = try? root.unlink("ballast")
            if let outcome = try? file.link(into: root, as: "ballast"), outcome != .unsupported { return }
        }
    }

    /// Deletes the ballast. Returns `false` if it was missing.
    func releaseBallast() -> Bool {
        (try? root.unlink("ballast")) ?? false
    }

    /// Runs `body`. If the disk was full, deletes the ballast and runs `body` once more.
    func withBallast<Value>(
        _ body: () throws(StoreError) -> sending Value
    ) throws(StoreError) -> sending (Value, usedBallast: Bool) {
        do throws(StoreError) {
            return (try body(), false)
        } catch {
            // An opening may report a full disk as another error, which may have other causes. So use the ballast only
            // if the disk is almost full.
            guard error.mayBeFullDisk, freeByteCount < Int64(Self.ballastByteCount), releaseBallast() else {
                throw error
            }
        }
        return (try body(), true)
    }
}
