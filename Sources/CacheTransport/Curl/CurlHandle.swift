#if Curl && !canImport(Darwin)
internal import CCurl

/// A handle of libcurl, used for one transfer after the other. Belongs to the thread of its loop.
final class CurlHandle {
    let pointer: UnsafeMutableRawPointer
    /// The exchange that the handle carries.
    private(set) var transfer: CurlTransfer?
    /// Whether something has arrived since the last delivery.
    fileprivate(set) var hasArrivals = false
    /// Whether the exchange was sent once more.
    private(set) var isRepetition = false

    private let arrivals: Arrivals
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var lines: UnsafeMutablePointer<curl_slist>?
    /// The number of times that libcurl was about to send the request.
    private var attemptCount = 0
    /// Whether the first attempt took a connection of an earlier exchange.
    private var tookOldConnection = false

    /// The handles of a loop for which something has arrived.
    final class Arrivals {
        private var handles: [CurlHandle] = []

        fileprivate func add(_ handle: CurlHandle) {
            guard !handle.hasArrivals else { return }
            handle.hasArrivals = true
            handles.append(handle)
        }

        var isEmpty: Bool { handles.isEmpty }

        func takeAll() -> [CurlHandle] {
            defer { handles.removeAll(keepingCapacity: true) }
            for handle in handles { handle.hasArrivals = false }
            return handles
        }
    }

    /// Returns `nil` when libcurl has no memory.
    init?(arrivals: Arrivals) {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        self.arrivals = arrivals
    }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(lines)
        errorText.deallocate()
    }

    /// Prepares the handle for an exchange. Returns the error of libcurl; `CURLE_OK` for none.
    func prepare(for transfer: CurlTransfer, _ settings: CurlSettings) -> CURLcode {
        self.transfer = transfer
        isRepetition = false
        attemptCount = 0
        errorText.pointee = 0
        for line in transfer.request.lines {
            let list = line.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { curl_slist_append(lines, $0.baseAddress) }
            }
            guard let list else { return CURLE_OUT_OF_MEMORY }
            lines = list
        }
        let options = CurlOptions(pointer)
        options.set(CURLOPT_ERRORBUFFER, errorText)
        options.set(CURLOPT_HTTPHEADER, lines)
        options.set(transfer.request)
        options.set(settings, transfer.request)
        options.check(
            ccurl_set_callbacks(
                pointer, Unmanaged.passUnretained(self).toOpaque(), receiveLine, receiveBody, takeContent,
                rewindContent, permitAttempt))
        return options.result
    }

    /// Makes the next attempt one on a new connection.
    func repeatOnNewConnection() {
        isRepetition = true
        attemptCount = 0
        errorText.pointee = 0
        transfer?.restart()
        ccurl_set_long(pointer, CURLOPT_FRESH_CONNECT, 1)
    }

    /// Makes the handle free for another exchange.
    func clear() {
        curl_easy_reset(pointer)
        curl_slist_free_all(lines)
        lines = nil
        transfer = nil
    }

    /// Whether the exchange failed because its old connection was closed, and may be sent once more.
    func canRepeat(after code: CURLcode) -> Bool {
        let isLost = [
            CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_ABORTED_BY_CALLBACK,
            CURLE_SEND_FAIL_REWIND, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_OK,
        ].contains(code)
        return isLost && tookOldConnection && !isRepetition && transfer?.isRepeatable == true
    }

    /// Returns the error of libcurl, if there is one.
    func failure(_ code: CURLcode, hasHead: Bool) -> TransportError? {
        TransportError(
            code, text: String(cString: errorText), hasHead: hasHead,
            proxyStatus: ccurl_info_long(pointer, CURLINFO_HTTP_CONNECTCODE),
            systemError: ccurl_info_long(pointer, CURLINFO_OS_ERRNO))
    }

    // MARK: Callbacks

    fileprivate func receive(line: UnsafeRawBufferPointer) -> Bool {
        guard let transfer, transfer.receive(line: line) else { return false }
        if transfer.mustClose { ccurl_set_long(pointer, CURLOPT_FORBID_REUSE, 1) }
        arrivals.add(self)
        return true
    }

    fileprivate func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        arrivals.add(self)
        return transfer?.receive(bytes) ?? true
    }

    /// Whether libcurl may send the request. libcurl sends any request once more, even a POST, if an old connection
    /// closes before the response. This method allows that only for a repeatable request, and only on a new connection:
    /// all old ones may be closed.
    fileprivate func permitsAttempt() -> Bool {
        let isNew = ccurl_info_long(pointer, CURLINFO_NUM_CONNECTS) > 0
        attemptCount += 1
        if attemptCount == 1 {
            tookOldConnection = !isNew
            transfer?.beginAttempt()
            return true
        }
        guard attemptCount == 2, isNew, !isRepetition, let transfer, transfer.isRepeatable else { return false }
        isRepetition = true
        transfer.restart()
        transfer.beginAttempt()
        return true
    }
}

/// Returns the handle of a callback.
private func handle(_ context: UnsafeMutableRawPointer?) -> CurlHandle? {
    context.map { Unmanaged<CurlHandle>.fromOpaque($0).takeUnretainedValue() }
}

/// `CURLOPT_HEADERFUNCTION`: returning another number than the count of bytes ends the transfer.
private func receiveLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    handle(context)?.receive(line: UnsafeRawBufferPointer(start: bytes, count: count)) == true ? count : -1
}

/// `CURLOPT_WRITEFUNCTION`.
private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    handle(context)?.receive(UnsafeRawBufferPointer(start: bytes, count: count)) == true
        ? count : Int(CURL_WRITEFUNC_PAUSE)
}

/// `CURLOPT_READFUNCTION`.
private func takeContent(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
    return switch handle(context)?.transfer?.takeContent(into: buffer) {
    case .bytes(let count): count
    case .awaited: Int(CURL_READFUNC_PAUSE)
    case .failed, nil: Int(CURL_READFUNC_ABORT)
    }
}

/// `CURLOPT_SEEKFUNCTION`: libcurl only asks for the first byte.
private func rewindContent(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    offset == 0 && handle(context)?.transfer?.rewindContent() == true ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_CANTSEEK
}

/// `CURLOPT_PREREQFUNCTION`: called once a connection exists, before each sending of the request.
private func permitAttempt(
    _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?, _ local: UnsafeMutablePointer<CChar>?,
    _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    handle(context)?.permitsAttempt() == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}
#endif
