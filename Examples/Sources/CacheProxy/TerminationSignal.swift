internal import Dispatch

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The signals that ask the program to end.
final class TerminationSignal {
    /// An element for each SIGTERM and SIGINT.
    let arrivals: AsyncStream<Void>

    private let sources: [any DispatchSourceSignal]

    /// Starts to receive the signals, which no longer end the process.
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
