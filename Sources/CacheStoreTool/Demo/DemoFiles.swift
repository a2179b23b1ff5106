import Foundation

/// The local files that the demo's origin serves.
struct DemoFiles {
    /// The number of files below which the demo prints a warning.
    static let wantedCount = 200
    /// The most files to collect once files of other packages are among them.
    private static let filledCount = 240
    private static let maxCount = 1000
    private static let maxFileBytes = 2 << 20
    private static let maxBytes = 64 << 20

    let directory: String
    /// The paths relative to the directory, sorted.
    private(set) var paths: [String] = []
    private var byteCount = 0

    /// Returns the files of the package around the current directory, and more from its dependencies if needed.
    static func ofPackage() throws(Failure) -> DemoFiles {
        try DemoFiles(in: packageDirectory(above: FileManager.default.currentDirectoryPath))
    }

    /// Collects the files below `directory`.
    ///
    /// Skips the files of Git and of the Swift package manager. If too few files remain, adds sources of the
    /// dependencies that the package manager has checked out.
    init(in directory: String) throws(Failure) {
        self.directory = directory
        collect("", upTo: Self.maxCount) { $0.hasPrefix(".build") || $0 == ".git" }
        if paths.count < Self.wantedCount {
            collect(".build/checkouts", upTo: Self.filledCount) { $0.hasPrefix(".") }
        }
        guard !paths.isEmpty else {
            throw Failure(.broken, "\(directory): there are no files to serve; choose another directory with --files")
        }
    }

    /// Returns the nearest parent directory with a `Package.swift`, or `path`.
    private static func packageDirectory(above path: String) -> String {
        var candidate = path
        while !FileManager.default.fileExists(atPath: "\(candidate)/Package.swift") {
            let parent = URL(filePath: candidate).deletingLastPathComponent().path(percentEncoded: false)
            let shorter = parent.count > 1 && parent.hasSuffix("/") ? String(parent.dropLast()) : parent
            guard shorter.count < candidate.count else { return path }
            candidate = shorter
        }
        return candidate
    }

    /// Adds the files below a subdirectory, sorted by name. Does not follow symbolic links.
    private mutating func collect(_ subdirectory: String, upTo limit: Int, except isLeftOut: (String) -> Bool) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(subdirectory)")) ?? []
        for name in names.sorted() where !isLeftOut(name) {
            guard paths.count < limit else { return }
            let path = subdirectory.isEmpty ? name : "\(subdirectory)/\(name)"
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(path)")
            switch attributes?[.type] as? FileAttributeType {
            case .typeDirectory:
                collect(path, upTo: limit, except: isLeftOut)
            case .typeRegular:
                let size = (attributes?[.size] as? NSNumber)?.intValue ?? .max
                guard size <= Self.maxFileBytes, byteCount + size <= Self.maxBytes,
                    FileManager.default.isReadableFile(atPath: "\(directory)/\(path)")
                else { continue }
                paths.append(path)
                byteCount += size
            default:
                continue
            }
        }
    }
}
