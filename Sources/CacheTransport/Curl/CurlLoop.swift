#if Curl && !canImport(Darwin)
internal import CCurl
internal import Dispatch
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Runs the transfers of a transport, all on one thread. The thread exists while there are transfers, and as long
/// afterwards as connections stay open. It sleeps in `curl_multi_poll` until the network, a deadline or an order wakes
/// it.
final class CurlLoop: Sendable {
    enum Order: Sendable {
        case start(CurlTransfer)
        /// Lets libcurl continue to receive or to send.
        case resume(CurlTransfer)
        /// Closes the connection of a transfer without a reader.
        case cancel(CurlTransfer)
    }

    private struct State {
        var orders: [Order] = []
        var isRunning = false
        var wakeup: Wakeup?
        /// Whether the connections close as soon as no transfer needs them.
        var isReleased = false
        var isShutDown = false
        var closings: [CheckedContinuation<Void, Never>] = []
    }

    /// Wakes the thread. libcurl allows this call from any thread while the multi handle exists. `@unchecked`:
    /// `CurlLoop.state` guards the pointer; the thread takes it out before it frees the handle.
    private struct Wakeup: @unchecked Sendable {
        let multi: UnsafeMutableRawPointer

        func callAsFunction() { curl_multi_wakeup(multi) }
    }

    private let configuration: CurlTransport.Configuration

    /// Guards the orders, and the life of the thread.
    private let state = Mutex(State())

    init(_ configuration: CurlTransport.Configuration) {
        self.configuration = configuration
    }

    // MARK: Any thread

    /// Gives an order to the thread, and starts the thread if it does not run.
    func give(_ order: Order) {
        let (starts, isRefused) = state.withLock { state in
            if state.isShutDown, case .start = order { return (false, true) }
            state.orders.append(order)
            // The first queued order wakes the thread. Further orders need no second wakeup.
            if state.orders.count == 1 { state.wakeup?() }
            defer { state.isRunning = true }
            return (!state.isRunning, false)
        }
        if isRefused, case .start(let transfer) = order {
            transfer.end(TransportError(.unsupportedRequest, message: "the transport was shut down"))
        }
        if starts { start() }
    }

    /// Closes the connections as soon as no transfer needs them.
    func release() {
        state.withLock { state in
            state.isReleased = true
            state.wakeup?()
        }
    }

    /// Ends all transfers, and returns after the connections are closed.
    func shutdown() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                state.isShutDown = true
                guard state.isRunning else { return true }
                state.closings.append(continuation)
                state.wakeup?()
                return false
            }
            if isClosed { continuation.resume() }
        }
    }

    private func start() {
        // A serial queue has its own thread, so that the sleep takes none from Swift's pool.
        DispatchQueue(label: "CacheStore.CurlLoop").async { [self] in run() }
    }

    // MARK: The thread

    private func run() {
        // A connection that is closed while TLS writes must not end the process.
        var pipe = sigset_t()
        var old = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &old)
        defer {
            // With libcurl before 7.88, OpenSSL writes with write(2): its signal is pending, and would end the process.
            var none = timespec()
            while sigtimedwait(&pipe, nil, &none) == SIGPIPE {}
            pthread_sigmask(SIG_SETMASK, &old, nil)
        }

        var transfers = CurlTransfers(configuration)
        state.withLock { $0.wakeup = transfers.map { Wakeup(multi: $0.multi) } }
        var lastWork = ContinuousClock.now
        while true {
            let (orders, isShutDown, isReleased) = state.withLock { state in
                defer { state.orders.removeAll() }
                return (state.orders, state.isShutDown, state.isReleased)
            }
            if let transfers {
                for order in orders { transfers.carryOut(order) }
                if isShutDown { transfers.endAll(TransportError(.cancelled, message: "the transport was shut down")) }
                transfers.perform()
                if !transfers.isEmpty { lastWork = .now }
            } else {
                refuse(orders)
            }
            let rest = lastWork + configuration.keepAliveTimeout - .now
            if transfers?.isEmpty != false, transfers == nil || isShutDown || isReleased || rest <= .zero {
                if let closings = finish() {
                    transfers = nil
                    return closings.forEach { $0.resume() }
                }
            } else {
                transfers?.sleep(atMost: rest)
            }
        }
    }

    /// Ends the life of the thread, unless there is an order. Returns the callers that wait for closed connections.
    private func finish() -> [CheckedContinuation<Void, Never>]? {
        state.withLock { state in
            guard state.orders.isEmpty else { return nil }
            state.isRunning = false
            state.wakeup = nil
            defer { state.closings = [] }
            return state.closings
        }
    }

    private func refuse(_ orders: [Order]) {
        for case .start(let transfer) in orders {
            transfer.end(
                TransportError(
                    .other, message: "libcurl cannot begin: the process has no free file descriptor, or no memory"))
        }
    }
}
#endif
