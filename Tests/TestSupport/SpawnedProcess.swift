/// A program started with posix_spawn(3).
///
/// Foundation's `Process` has two defects on Linux (Swift 6.3). Its `run()` reads beyond the end of a buffer with more
/// than 1365 open descriptors (`findMaximumOpenFromProcSelfFD`), and it never releases an ended process.
final class SpawnedProcess: Sendable {
    /// The exit code of the program, or the number of the signal that ended it.
    struct Ending: Sendable {
        let code: Int32
        let isSignal: Bool
    }

    /// Guards the process ID. After waitpid(2), another program may have the same ID.
    private let running: Mutex<pid_t?>
    private let number: pid_t

    /// Starts a program with only these descriptors and no blocked signal. The threads of Swift's pool block nearly all
    /// signals; a program that inherited this mask would never receive SIGTERM.
    init(
        _ path: String, _ arguments: [String], environment: [String: String], input: Int32, output: Int32, error: Int32
    ) throws {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (descriptor, place) in [(input, 0), (output, 1), (error, 2)] as [(Int32, Int32)] {
            posix_spawn_file_actions_adddup2(&actions, descriptor, place)
        }
        #if canImport(Darwin)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
        let flags = Int32(POSIX_SPAWN_SETSIGMASK)
        _ = Self.closeFrom?(&actions, 3)
        #endif
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var child: pid_t = 0
        let status = posix_spawn(&child, path, &actions, &attributes, words, variables)
        guard status == 0 else { throw POSIXError(POSIXError.Code(rawValue: status) ?? .EIO) }
        number = child
        running = Mutex(child)
    }

    #if !canImport(Darwin)
    /// posix_spawn_file_actions_addclosefrom_np(3). glibc has this function, but Swift does not import it.
    private static var closeFrom: CloseFrom? {
        dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map { unsafeBitCast($0, to: CloseFrom.self) }
    }

    private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    #endif

    /// Waits for the end on a separate thread. May be called only once.
    func ending() async -> Ending {
        await withCheckedContinuation { caller in
            Thread.detachNewThread { [self] in
                // The program has ended, but keeps its process ID until waitpid(2).
                var information = siginfo_t()
                while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
                var status: Int32 = 0
                running.withLock { running in
                    while waitpid(number, &status, 0) == -1, errno == EINTR {}
                    running = nil
                }
                let signal = status & 0x7F
                caller.resume(
                    returning: signal == 0
                        ? Ending(code: (status >> 8) & 0xFF, isSignal: false) : Ending(code: signal, isSignal: true))
            }
        }
    }

    /// Kills the program if it is still running.
    func kill() {
        running.withLock { running in if let running { _ = Foundation.kill(running, SIGKILL) } }
    }
}
