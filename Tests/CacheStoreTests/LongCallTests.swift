import TestSupport

@Suite("Bytes beyond the limit of a system call")
struct LongCallTests {
    /// More bytes than two calls transfer, not all equal.
    private static let bytes: [UInt8] = {
        var bytes = [UInt8](repeating: 0, count: 2 * FileDescriptor.maxCallByteCount + 5)
        for index in stride(from: 0, to: bytes.count, by: 65_521) { bytes[index] = UInt8(truncatingIfNeeded: index) }
        return bytes
    }()

    @Test("stores, verifies and reads a body in one chunk")
    func body() async throws {
        let sandbox = Sandbox()
        let store = try sandbox.open { $0.limits = nil }
        try await store.insert(Data(Self.bytes), metadata: sandbox.metadata(), for: .path("a"))
        store.close()
        let reopened = try sandbox.open { $0.limits = nil }
        #expect(try reopened.bytes(.path("a")) == Data(Self.bytes))
    }

    @Test("writes bytes to their offset")
    func writeAtOffset() throws {
        let sandbox = try BlobSandbox()
        let staged = try StagedFile(namedBelow: sandbox.root)
        let file = staged.descriptor
        try Self.bytes.withUnsafeBytes { (bytes) throws in try file.write(bytes, at: 3) }
        #expect(try Data(contentsOf: file) == Data([0, 0, 0] + Self.bytes))
    }
}
