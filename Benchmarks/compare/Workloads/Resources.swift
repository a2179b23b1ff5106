import CacheStore
import Foundation

/// Measures the index size, the memory and the written bytes of a store.
struct Resources {
    let place: Place
    let sizes: [Int]

    func facts() throws -> [Fact] {
        try sizes.flatMap(size) + [written("ours", "written"), written("C, the store's schema", "written-c")]
    }

    private func size(_ count: Int) throws -> [Fact] {
        let directory = try place.files(count)
        let store = try ResponseStore.unlimited(directory)
        let indexBytes = try store.statistics().indexBytes
        store.close()
        let worker = try LineProcess(
            subcommand: "worker", [directory.path(percentEncoded: false), "--entries", "\(count)"])
        let memory = try worker.ask("memory")
        let name = Growth.name(count)
        return [
            Fact(name: "bytes of index per entry, \(name)", value: "\(indexBytes / Int64(count))"),
            Fact(
                name: "resident memory after 50,000 hits among \(name)", value: String(format: "%.1f MB", memory / 1e6)),
        ]
    }

    private func written(_ name: String, _ command: String) throws -> Fact {
        let worker = try LineProcess(
            subcommand: "worker", [place.freshStore(command).path(percentEncoded: false)])
        return Fact(
            name: "bytes written per byte stored, 16 KiB bodies, \(name)",
            value: String(format: "%.2f", try worker.ask("\(command) 5000")))
    }
}
