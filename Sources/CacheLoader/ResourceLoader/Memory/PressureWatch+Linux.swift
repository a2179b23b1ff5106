#if !canImport(Darwin)
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// Receives memory pressure events from the kernel until it is released. Uses pressure stall information,
/// https://docs.kernel.org/accounting/psi.html. A dedicated thread waits in poll(2) and owns the file descriptors that
/// it polls. One of them is a socket; closing its other end stops the thread.
package final class PressureWatch: Sendable {
    /// A threshold of the time that tasks stall within a window.
    private struct Trigger {
        let pressure: MemoryPressure
        let text: String
    }

    /// The thresholds, in microseconds of stalling and of the window. Without privileges the window must be a multiple
    /// of 2 s. systemd recommends the "some" trigger to its services (https://systemd.io/MEMORY_PRESSURE/). The "full"
    /// trigger is the example of the kernel's documentation.
    private static let triggers = [
        Trigger(pressure: .critical, text: "full 100000 2000000"),
        Trigger(pressure: .warning, text: "some 200000 2000000"),
    ]

    /// The end of the socket pair that this object closes when it is released.
    private let ownEnd: Int32

    /// Calls `notify` at every signal, on a dedicated thread. Returns `nil` when the kernel refuses a trigger. `path`
    /// is the file that accepts the triggers.
    package convenience init?(
        path: String = "/proc/pressure/memory", _ notify: @escaping @Sendable (MemoryPressure) -> Void
    ) {
        var descriptors: [(Int32, MemoryPressure)] = []
        for trigger in Self.triggers {
            // A file descriptor accepts one trigger.
            guard let descriptor = Self.open(path, trigger.text) else {
                for (descriptor, _) in descriptors { close(descriptor) }
                return nil
            }
            descriptors.append((descriptor, trigger.pressure))
        }
        self.init(descriptors: descriptors, notify)
    }

    /// Calls `notify` whenever poll(2) reports an exceptional condition of a descriptor. Always closes the descriptors.
    package init?(
        descriptors: [(Int32, MemoryPressure)], _ notify: @escaping @Sendable (MemoryPressure) -> Void
    ) {
        // A socket pair instead of a pipe. Swift does not import pipe2(2), whose `O_CLOEXEC` keeps the file descriptors
        // from programs that start concurrently.
        #if canImport(Glibc)
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
        let type = SOCK_STREAM | SOCK_CLOEXEC
        #endif
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            for (descriptor, _) in descriptors { close(descriptor) }
            return nil
        }
        ownEnd = ends[1]
        let loop = Loop(descriptors: descriptors, stop: ends[0], notify)
        // Without a thread, the deinitialisers of this object and of the loop close the descriptors.
        guard loop.startThread() else { return nil }
    }

    deinit {
        close(ownEnd)
    }

    private static func open(_ path: String, _ trigger: String) -> Int32? {
        #if canImport(Glibc)
        let descriptor = Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        #else
        let descriptor = Musl.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        #endif
        guard descriptor >= 0 else { return nil }
        // Write one byte more than the text: the kernel overwrites the last byte with zero.
        guard write(descriptor, trigger, trigger.utf8.count + 1) > 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}

/// The poll loop of a watch, on the thread of the watch.
private final class Loop: Sendable {
    private let descriptors: [(number: Int32, pressure: MemoryPressure)]
    private let stop: Int32
    private let notify: @Sendable (MemoryPressure) -> Void

    init(descriptors: [(Int32, MemoryPressure)], stop: Int32, _ notify: @escaping @Sendable (MemoryPressure) -> Void) {
        self.descriptors = descriptors.map { (number: $0.0, pressure: $0.1) }
        self.stop = stop
        self.notify = notify
    }

    deinit {
        for (number, _) in descriptors { close(number) }
        close(stop)
    }

    /// Starts a thread that blocks all signals: the program's own threads handle the signals of the process.
    func startThread() -> Bool {
        let loop = Unmanaged.passRetained(self)
        var (all, former) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        let status = pthread_create(
            &thread, nil,
            { context in
                pthread_detach(pthread_self())
                if let context { Unmanaged<Loop>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, loop.toOpaque())
        guard status == 0 else {
            loop.release()
            return false
        }
        return true
    }

    private func run() {
        var polled = descriptors.map { pollfd(fd: $0.number, events: Int16(POLLPRI), revents: 0) }
        polled.append(pollfd(fd: stop, events: 0, revents: 0))
        while true {
            guard poll(&polled, nfds_t(polled.count), -1) > 0 else {
                // After an interruption, no entry holds a result of the kernel: poll again.
                if errno == EINTR { continue }
                return
            }
            guard polled[descriptors.count].revents == 0 else { return }
            for (entry, descriptor) in zip(polled, descriptors) {
                if entry.revents & Int16(POLLPRI) != 0 { notify(descriptor.pressure) }
                // After an error or a hangup the source is unusable, and poll(2) would return immediately.
                if entry.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { return }
            }
        }
    }
}
#endif
