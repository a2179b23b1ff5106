internal import CPlatform

/// A file of 1 MiB that a store deletes when the disk is full: an eviction has to be committed before it frees any space.
extension StoreDirectory {
    static let ballastByteCount = 1 << 20

    /// Free bytes below which no ballast is made: it must not be what fills the disk.
    private static let reserveByteCount: Int64 = 8 << 20

    /// Makes the ballast unless it is there or the disk is almost full.
    func makeBallast() {
        guard (try? root.status(of: "ballast"))?.map(\.size) != Int64(Self.ballastByteCount),
            freeByteCount >= Self.reserveByteCount
        else { return }
        do throws(SystemError) {
            try root.unlink("ballast")
            let file = try root.open("ballast", O_WRONLY | O_CREAT | O_EXCL)
            // Written, not only allocated: a file with holes takes no space.
            let zeros = [UInt8](repeating: 0, count: Self.ballastByteCount)
            let result = zeros.withUnsafeBytes { bytes in
                Result { () throws(SystemError) in try file.write(bytes) }
            }
            try result.get()
        } catch {
            _ = try? root.unlink("ballast")
        }
    }

    /// Deletes the ballast; `false` if there was none.
    func releaseBallast() -> Bool {
        (try? root.unlink("ballast")) ?? false
    }

    /// Runs `body`, and once more without the ballast if the disk was full.
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
