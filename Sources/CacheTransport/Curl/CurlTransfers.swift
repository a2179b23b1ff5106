#if Curl && !canImport(Darwin)
internal import CCurl

/// The transfers of a loop. Belongs to the thread of the loop.
final class CurlTransfers {
    let multi: UnsafeMutableRawPointer

    private let settings: CurlSettings
    private let idleTimeout: Duration
    private var handles: [ObjectIdentifier: CurlHandle] = [:]
    private let arrivals = CurlHandle.Arrivals()
    /// Handles for later transfers.
    private var freeHandles: [CurlHandle] = []
    /// The time at which the next transfer may time out.
    private var nextCheck = ContinuousClock.now

    private static let initialization: CURLcode = ccurl_global_init()

    /// `nil` without memory, or without the file descriptors that wake the thread.
    init?(_ configuration: CurlTransport.Configuration) {
        guard Self.initialization == CURLE_OK, let multi = curl_multi_init() else { return nil }
        guard curl_multi_wakeup(multi) == CURLM_OK else {
            curl_multi_cleanup(multi)
            return nil
        }
        self.multi = multi
        settings = CurlSettings(configuration)
        idleTimeout = configuration.idleTimeout
        ccurl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, settings.connectionsPerHost)
        // The default, four for each transfer, closes the connections of all others when only one is left.
        ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(256, settings.connectionsPerHost))
    }

    deinit {
        endAll(TransportError(.cancelled))
        freeHandles = []
        curl_multi_cleanup(multi)
    }

    var isEmpty: Bool { handles.isEmpty }

    func carryOut(_ order: CurlLoop.Order) {
        switch order {
        case .start(let transfer): start(transfer)
        case .resume(let transfer): handles[ObjectIdentifier(transfer)].map { resume($0) }
        case .cancel(let transfer): handles[ObjectIdentifier(transfer)].map { remove($0) }
        }
    }

    func endAll(_ error: TransportError) {
        for handle in handles.values {
            handle.transfer?.end(error)
            remove(handle)
        }
    }

    /// Does all work that needs no wait.
    func perform() {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        deliver()
        var code = CURLE_OK
        while let pointer = ccurl_multi_next_ended(multi, &code) {
            if let context = ccurl_context(pointer) {
                finish(Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue(), code)
            }
        }
        expire()
    }

    /// Waits for the network, a deadline, or an order. `limit` is the longest time, if there is no transfer.
    func sleep(atMost limit: Duration) {
        guard arrivals.isEmpty else { return }
        let rest = isEmpty ? limit : nextCheck - .now
        let (seconds, attoseconds) = max(rest, .zero).components
        let milliseconds = min(seconds, 3600) * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        curl_multi_poll(multi, nil, 0, Int32(milliseconds), nil)
    }

    private func start(_ transfer: CurlTransfer) {
        guard !transfer.hasEnded else { return }
        guard let handle = freeHandles.popLast() ?? CurlHandle(arrivals: arrivals) else {
            transfer.end(TransportError(CURLE_FAILED_INIT, text: "", hasHead: false))
            return
        }
        let code = handle.prepare(for: transfer, settings)
        guard code == CURLE_OK, curl_multi_add_handle(multi, handle.pointer) == CURLM_OK else {
            transfer.end(TransportError(.other, message: String(cString: curl_easy_strerror(code))))
            return
        }
        handles[ObjectIdentifier(transfer)] = handle
        // Without a deadline, the exchange cannot time out before this time has passed.
        nextCheck = min(nextCheck, transfer.deadline ?? .now + idleTimeout)
    }

    private func resume(_ handle: CurlHandle) {
        guard let transfer = handle.transfer else { return }
        // May call the callbacks with bytes that were held back.
        curl_easy_pause(handle.pointer, transfer.takePauses())
    }

    private func deliver() {
        while !arrivals.isEmpty {
            for handle in arrivals.takeAll() {
                guard let transfer = handle.transfer else { continue }
                if transfer.deliver() { resume(handle) }
                if transfer.isCompleteBeforeItsEnd { finish(handle, CURLE_OK) }
            }
        }
    }

    private func finish(_ handle: CurlHandle, _ code: CURLcode) {
        guard let transfer = handle.transfer else { return }
        guard !handle.canRepeat(after: code) else {
            curl_multi_remove_handle(multi, handle.pointer)
            handle.repeatOnNewConnection()
            curl_multi_add_handle(multi, handle.pointer)
            return
        }
        transfer.end(transfer.error { hasHead in handle.failure(code, hasHead: hasHead) })
        remove(handle)
    }

    private func remove(_ handle: CurlHandle) {
        guard let transfer = handle.transfer else { return }
        handles[ObjectIdentifier(transfer)] = nil
        // Closes the connection of a transfer that is not complete.
        curl_multi_remove_handle(multi, handle.pointer)
        handle.clear()
        if freeHandles.count < 32 { freeHandles.append(handle) }
    }

    private func expire() {
        let now = ContinuousClock.now
        guard now >= nextCheck else { return }
        var earliest = now + .seconds(3600)
        for handle in handles.values {
            guard let transfer = handle.transfer else { continue }
            // An exchange that waits for the program or a connection cannot time out before this time has passed again.
            let deadline = transfer.deadline ?? now + idleTimeout
            if deadline > now {
                earliest = min(earliest, deadline)
            } else {
                transfer.end(TransportError(.timedOut, message: "nothing arrived in time"))
                remove(handle)
            }
        }
        // Bounds the checks of many transfers whose deadlines lie close together.
        nextCheck = max(earliest, now + .milliseconds(10))
    }
}
#endif
