import CacheStoreTool
import TestSupport

@Suite("ByteLimit")
struct ByteLimitTests {
    @Test(
        "Reads a size in the printed form, and with the units of other tools",
        arguments: [
            ("0", 0), ("100", 100), ("100B", 100), ("100 B", 100), ("10kB", 10_000), ("10KB", 10_000),
            ("10 MB", 10_000_000), ("1.5MB", 1_500_000), ("12.3 kB", 12_300), ("2GB", 2_000_000_000),
            ("1TB", 1_000_000_000_000), ("10K", 10 << 10), ("10k", 10 << 10), ("10M", 10 << 20), ("1g", 1 << 30),
            ("10KiB", 10 << 10), ("10MiB", 10 << 20), ("1GiB", 1 << 30), ("1TiB", 1 << 40), ("0.5KiB", 512),
            ("8EB", 8_000_000_000_000_000_000), ("8589934591G", 8_589_934_591 << 30), ("1.5K", 1_536),
        ] as [(String, Int64)])
    func sizes(text: String, byteCount: Int64) {
        #expect(ByteLimit(argument: text)?.byteCount == byteCount)
    }

    @Test(
        "Rejects any other text",
        arguments: [
            "", "B", "kB", "-1", "+1", "1.5", "1.5B", "1.", ".5kB", "1.2.3MB", "10X", "10MiBs", "10iB", "10EB",
            "9223372036854775808", "8589934592G", "1e3", "K", "１", "٣", "1,5MB", "0x10",
        ])
    func others(text: String) {
        #expect(ByteLimit(argument: text) == nil)
    }
}
