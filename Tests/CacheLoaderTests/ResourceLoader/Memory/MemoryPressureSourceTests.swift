import TestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite("MemoryPressureSource") struct MemoryPressureSourceTests {
    @Test("Only an observation retains its source")
    func lifetime() throws {
        weak var released: MemoryPressureSource?
        do {
            let observation: MemoryPressureSource.Observation
            do {
                guard let source = MemoryPressureSource.system() else {
                    #expect(!Self.isOffered, "the system tells, but not us")
                    return
                }
                #expect(Self.isOffered)
                released = source
                observation = source.observe { _ in }
            }
            withExtendedLifetime(observation) { #expect(released != nil) }
        }
        #expect(released == nil)
    }

    #if os(Linux)
    /// Whether the kernel accepts a trigger from this process.
    private static var isOffered: Bool {
        let descriptor = open("/proc/pressure/memory", O_RDWR | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        return descriptor >= 0 && write(descriptor, "some 200000 2000000", 20) > 0
    }

    @Test(
        "A file that is not writable, or accepts no trigger, is not a source",
        arguments: [
            "/proc/pressure/none", "/proc", "/dev/full",
        ])
    func refusal(path: String) { #expect(MemoryPressureSource { PressureWatch(path: path, $0) } == nil) }

    @Test(
        "Every signal reaches every observer with the level of its descriptor", .timeLimit(.minutes(5)),
        arguments: MemoryPressure.allCases)
    func signals(pressure: MemoryPressure) async throws {
        let (critical, warning) = try (Self.sockets(), Self.sockets())
        defer { for descriptor in [critical.far, warning.far] { close(descriptor) } }
        let (told, tell) = AsyncStream<MemoryPressure>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let (toldToo, tellToo) = AsyncStream<MemoryPressure>.makeStream(bufferingPolicy: .bufferingOldest(1))
        do {
            let descriptors = [(critical.near, MemoryPressure.critical), (warning.near, .warning)]
            let source = try #require(MemoryPressureSource { PressureWatch(descriptors: descriptors, $0) })
            let observations = [source.observe { tell.yield($0) }, source.observe { tellToo.yield($0) }]
            // Out-of-band data is an exceptional condition of a socket, like a trigger of its file.
            #expect(send(pressure == .critical ? critical.far : warning.far, "!", 1, Int32(MSG_OOB)) == 1)
            #expect(await told.first { _ in true } == pressure)
            #expect(await toldToo.first { _ in true } == pressure)
            withExtendedLifetime(observations) {}
        }
        // The thread ends with the source, and closes its descriptors. This read blocks until then.
        var byte: UInt8 = 0
        #expect(read(critical.far, &byte, 1) <= 0)
        #expect(read(warning.far, &byte, 1) <= 0)
    }

    @Test("When a descriptor has an error or ends, the thread ends")
    func end() throws {
        let (ended, other) = try (Self.sockets(), Self.sockets())
        defer { close(other.far) }
        let descriptors = [(ended.near, MemoryPressure.critical), (other.near, .warning)]
        let watch = try #require(PressureWatch(descriptors: descriptors) { _ in })
        close(ended.far)
        var byte: UInt8 = 0
        #expect(read(other.far, &byte, 1) == 0)
        withExtendedLifetime(watch) {}
    }

    /// Close-on-exec: programs started by other tests would keep an end open.
    private static func sockets() throws -> (near: Int32, far: Int32) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
        let type = SOCK_STREAM | SOCK_CLOEXEC
        #endif
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        return (ends[0], ends[1])
    }
    #else
    private static var isOffered: Bool { true }
    #endif
}
