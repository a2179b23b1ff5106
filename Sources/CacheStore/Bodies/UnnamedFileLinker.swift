internal import CPlatform
internal import Synchronization

/// Names files that were opened without a name (`O_TMPFILE`), by the first method that works in this process.
final class UnnamedFileLinker: Sendable {
    /// The result of ``link(_:into:as:)``.
    enum Outcome {
        case linked
        /// Another file has the name.
        case exists
        /// This process cannot name unnamed files.
        case unsupported
    }

    /// Errors with which kernels and sandboxes refuse one method of linking. Another method may work.
    private static let refusals: Set<Int32> = [ENOENT, EPERM, EACCES, EINVAL, ENOSYS, EOPNOTSUPP, ELOOP]

    private let isPermitted: Bool
    /// Whether linking is supported. `true` until an attempt fails.
    private let isAvailable = Atomic(true)
    /// Whether links need `/proc`.
    private let needsProc = Atomic(false)

    /// - Parameter isPermitted: `false` makes every link ``Outcome/unsupported``, for tests.
    init(isPermitted: Bool = true) {
        self.isPermitted = isPermitted
    }

    /// Whether new files should be opened without a name.
    var shouldBeUsed: Bool { isAvailable.load(ordering: .relaxed) }

    /// Links the file. Throws ENOENT if the file had a name before: the kernel does not link it again.
    func link(
        _ descriptor: FileDescriptor, into directory: FileDescriptor, as name: String
    ) throws(StoreError) -> Outcome {
        do throws(StoreError) {
            guard isPermitted else { return unsupported() }
            try linkByAnyWay(descriptor, directory, name)
            return .linked
        } catch let error where error.errno == EEXIST {
            return .exists
        } catch let error where Self.refusals.contains(error.errno) {
            // The file is visible in /proc, so ENOENT is about the file or the directory, and not about the method.
            if error.errno == ENOENT, access(Self.procPath(of: descriptor), F_OK) == 0 { throw error }
            return unsupported()
        }
    }

    private func unsupported() -> Outcome {
        isAvailable.store(false, ordering: .relaxed)
        return .unsupported
    }

    private func linkByAnyWay(
        _ descriptor: FileDescriptor, _ directory: FileDescriptor, _ name: String
    ) throws(StoreError) {
        let target = directory.path + "/" + name
        if !needsProc.load(ordering: .relaxed) {
            do throws(StoreError) {
                // Kernels before 6.10 require CAP_DAC_READ_SEARCH and return ENOENT without it.
                try FileDescriptor.retrying("linkat", target) {
                    cplatform_link_descriptor(descriptor.number, directory.number, name)
                }
                return
            } catch let error where Self.refusals.contains(error.errno) {}
        }
        // open(2) documents this method for unprivileged processes. Containers may lack /proc.
        let path = Self.procPath(of: descriptor)
        try FileDescriptor.retrying("linkat", target) {
            linkat(AT_FDCWD, path, directory.number, name, AT_SYMLINK_FOLLOW)
        }
        needsProc.store(true, ordering: .relaxed)
    }

    private static func procPath(of descriptor: FileDescriptor) -> String { "/proc/self/fd/\(descriptor.number)" }
}
