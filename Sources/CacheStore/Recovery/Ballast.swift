internal import CPlatform

/// The ballast: a file of 1 MiB that a store deletes when the disk is full. An eviction frees no space before its
/// commit, and the commit needs room.
extension StoreDirectory {
    static let ballastByteCount = 1 << 20

    /// The number of free bytes below which no ballast is created. The ballast must not be the file that fills the
    /// disk.
    private static let reserveByteCount: Int64 = 8 << 20

    /// Creates the ballast, unless it exists or the disk is almost full.
    func makeBallast() {
        guard (try? root.status(of: "ballast"))?.map(\.size) != Int64(Self.ballastByteCount),
            freeByteCount >= Self.reserveByteCount
        else { return }
        do throws(SystemError) {
            try root.unlink("ballast")
            let file = try root.open("ballast", O_WRONLY | O_CREAT | O_EXCL)
            // Write the bytes instead of only setting the length: a file with holes takes no space.
            let zeros = [UInt8](repeating: 0, count: Self.ballastByteCount)
            let result = zeros.withUnsafeBytes { bytes in
                Result { () throws(SystemError) in try file.write(bytes) }
            }
            try result.get()
        } catch {
            _ = try? root.unlink("ballast")
        }
    }

    /// Deletes the ballast; returns `false` if there was none.
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
            guard error.mayBeFullDisk, freeByteCount < Int64(Self.ballastByteCount), releaseBallast() else {
                throw error
            }
        }
        return (try body(), true)
    }
}
