import TestSupport

/// A program that runs concurrently with the tests and may be killed.
///
/// Foundation's `Process` takes longer to start a program than most scenarios take to run.
struct Child: Sendable {
    enum Ending: Hashable, Sendable {
        case exit(Int32)
        case signal(Int32)
    }

    let identifier: pid_t

    /// Starts `executable` and appends its output and errors to the file `output`.
    init(_ executable: URL, _ arguments: [String], output: String) throws {
        let path = executable.path(percentEncoded: false)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)

        // Programs inherit the signal mask, and the threads of Swift's pool block nearly every signal.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier = pid_t()
        let error = posix_spawn(&identifier, path, &actions, &attributes, &words, environ)
        guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EINVAL) }
        self.identifier = identifier
    }

    func kill() { send(SIGKILL) }

    /// Sends a signal to the program.
    func send(_ signal: Int32) {
        #if canImport(Glibc)
        _ = Glibc.kill(identifier, signal)
        #else
        _ = Foundation.kill(identifier, signal)
        #endif
    }

    /// Whether the program has ended.
    var hasEnded: Bool {
        var information = siginfo_t()
        waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
        return information.si_signo == SIGCHLD
    }

    /// Waits until the program has ended. May be called only once.
    func waitBlocking() -> Ending {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .exit((status >> 8) & 0xff) : .signal(signal)
    }

    /// Waits on a separate thread.
    func wait() async -> Ending {
        await withCheckedContinuation { caller in Thread.detachNewThread { caller.resume(returning: waitBlocking()) } }
    }
}
