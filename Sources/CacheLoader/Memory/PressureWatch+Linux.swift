#if os(Linux)
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// Hears from the kernel when tasks wait for memory, until it is released: pressure stall information,
/// https://docs.kernel.org/accounting/psi.html.
///
/// A thread of its own waits in poll(2). It owns the descriptors that it waits for; one is a socket, whose other end is
/// closed for the thread to end.
package final class PressureWatch: Sendable {
    /// A threshold: what tasks have lost within a window.
    private struct Trigger {
        let pressure: MemoryPressure
        let text: String
    }

    /// Microseconds of waiting, and of the window. Without privileges a window must be a multiple of 2 s. "some" is what systemd
    /// tells its services to ask for (https://systemd.io/MEMORY_PRESSURE/), "full" the example of the kernel's page.
    private static let triggers = [
        Trigger(pressure: .critical, text: "full 100000 2000000"),
        Trigger(pressure: .warning, text: "some 200000 2000000"),
    ]

    /// The end of the pair of sockets that this closes when it goes.
    private let ownEnd: Int32

    /// Calls `tell` at every signal, on a thread of its own; `nil` if the kernel refuses.
    ///
    /// - Parameter path: The file that takes the triggers.
    package convenience init?(
        path: String = "/proc/pressure/memory", _ tell: @escaping @Sendable (MemoryPressure) -> Void
    ) {
        var descriptors: [(Int32, MemoryPressure)] = []
        for trigger in Self.triggers {
            // A descriptor takes one trigger.
            guard let descriptor = Self.open(path, trigger.text) else {
                for (descriptor, _) in descriptors { close(descriptor) }
                return nil
            }
            descriptors.append((descriptor, trigger.pressure))
        }
        self.init(descriptors: descriptors, tell)
    }

    /// Calls `tell` whenever poll(2) reports an exceptional condition of a descriptor. Closes the descriptors in any case.
    package init?(
        descriptors: [(Int32, MemoryPressure)], _ tell: @escaping @Sendable (MemoryPressure) -> Void
    ) {
        // Not a pipe: pipe2(2), which keeps it from programs that start just now, is not offered to Swift.
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
        let loop = Loop(descriptors: descriptors, stop: ends[0], tell)
        guard loop.startThread() else {
            close(ownEnd)
            return nil
        }
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
        // The kernel puts a zero in the place of the last byte.
        guard write(descriptor, trigger, trigger.utf8.count + 1) > 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}

/// What the thread of a watch does.
private final class Loop: Sendable {
    private let descriptors: [(number: Int32, pressure: MemoryPressure)]
    private let stop: Int32
    private let tell: @Sendable (MemoryPressure) -> Void

    init(descriptors: [(Int32, MemoryPressure)], stop: Int32, _ tell: @escaping @Sendable (MemoryPressure) -> Void) {
        self.descriptors = descriptors.map { (number: $0.0, pressure: $0.1) }
        self.stop = stop
        self.tell = tell
    }

    deinit {
        for (number, _) in descriptors { close(number) }
        close(stop)
    }

    /// Runs on a thread that no signal interrupts: those of the process are for the program's own threads.
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
                // Before anything was told by the kernel, no descriptor says anything.
                if errno == EINTR { continue }
                return
            }
            guard polled[descriptors.count].revents == 0 else { return }
            for (entry, descriptor) in zip(polled, descriptors) {
                if entry.revents & Int16(POLLPRI) != 0 { tell(descriptor.pressure) }
                // An error or the end: the source is gone, and poll(2) would not wait any more.
                if entry.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { return }
            }
        }
    }
}
#endif
