import CacheStore
import CacheTier
import Foundation

/// One machine of the fleet of `Scripts/tier-lab`: a store, and a shared tier between store and origin.
///
/// Its argument is a ``Setup`` as JSON. Each input line is an ``Order`` as JSON; each output line is the result of an
/// order. The machine ends with its input.
@main
struct TierMachine {
    static func main() async {
        do {
            guard CommandLine.arguments.count == 2 else { throw CocoaError(.formatting) }
            let setup = try JSONDecoder().decode(Setup.self, from: Data(CommandLine.arguments[1].utf8))
            let machine = try Machine(setup)
            write(["ready": true])
            for await line in orders() {
                switch try JSONDecoder().decode(Order.self, from: Data(line.utf8)) {
                case .run(let load): write(await machine.run(load))
                case .report: write(machine.report())
                case .drain:
                    await machine.tier?.waitForWrites()
                    write(machine.report())
                case .removeAll:
                    try await machine.tier?.removeAll(in: .partition)
                    write(machine.report())
                }
            }
            machine.store.close()
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    /// The lines of the input, read on a separate thread: the tasks of the tier need all threads of Swift's pool.
    private static func orders() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return lines
    }

    private static func write(_ value: some Encodable) {
        guard let json = try? JSONEncoder().encode(value) else { return }
        FileHandle.standardOutput.write(json + Data("\n".utf8))
    }
}
