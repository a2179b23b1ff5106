/// The progress of a check through the files of bodies.
package struct CheckProgress: Hashable, Sendable {
    package private(set) var files: Int64 = 0
    /// The bytes of these files according to the index. The check reads them only on request.
    package private(set) var bytes: Int64 = 0
    package let totalFiles: Int64
    package let totalBytes: Int64

    /// - Parameter byteCounts: The lengths of all files.
    init(of byteCounts: some Collection<Int64>) {
        totalFiles = Int64(byteCounts.count)
        totalBytes = byteCounts.reduce(0, Self.sum)
    }

    mutating func add(byteCount: Int64) {
        files += 1
        bytes = Self.sum(bytes, byteCount)
    }

    /// Saturates, because the values of a damaged index may overflow.
    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, isTooLarge) = left.addingReportingOverflow(max(0, right))
        return isTooLarge ? .max : sum
    }
}
