internal import Dispatch

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The wish of the system, or of a person at the terminal, that the program ends.
final class TerminationSignal {
    /// SIGTERM and SIGINT, as they arrive.
    let arrivals: AsyncStream<Void>

    private let sources: [any DispatchSourceSignal]

    /// From here on the signals no longer end the process.
    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        arrivals = stream
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }
}
