import LoopbackOrigin

/// The files of the demo, the same in each run: a site of articles with style sheets, scripts, data and pictures.
enum DemoSite {
    /// The folders, with the number and the sizes of their files.
    private static let folders: [(path: String, ending: String, count: Int, sizes: ClosedRange<Int>)] = [
        ("articles", "html", 90, 4_000...60_000), ("assets", "css", 12, 8_000...90_000),
        ("assets", "js", 18, 20_000...300_000), ("api/items", "json", 60, 300...12_000),
        ("pictures", "png", 60, 12_000...240_000),
    ]
    private static let words = Array("a stored response is fresh until its age reaches the freshness lifetime ".utf8)

    static func served() throws -> FileOrigin {
        let origin = try FileOrigin(directory: ".", paths: [], cacheControl: DemoScenario.cacheControl)
        var bits = Bits()
        for folder in folders {
            for number in 1...folder.count {
                let byteCount = Int.random(in: folder.sizes, using: &bits)
                origin.overlay(
                    "/\(folder.path)/\(number).\(folder.ending)",
                    with: folder.ending == "png" ? picture(byteCount, &bits) : text(byteCount, number, folder.ending))
            }
        }
        return origin
    }

    private static func text(_ byteCount: Int, _ number: Int, _ ending: String) -> [UInt8] {
        var bytes = Array("\(ending) \(number)\n".utf8)
        while bytes.count < byteCount { bytes.append(contentsOf: words) }
        return Array(bytes.prefix(byteCount))
    }

    /// The signature of a PNG file, then bytes that no coding makes smaller, like those of a picture.
    private static func picture(_ byteCount: Int, _ bits: inout Bits) -> [UInt8] {
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        while bytes.count < byteCount { withUnsafeBytes(of: bits.next()) { bytes.append(contentsOf: $0) } }
        return bytes
    }

    /// SplitMix64 with a fixed seed.
    private struct Bits: RandomNumberGenerator {
        private var state: UInt64 = 1

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
