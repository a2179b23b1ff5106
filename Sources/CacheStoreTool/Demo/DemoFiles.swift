import Foundation

/// The real files that the demo's origin serves.
struct DemoFiles {
    /// With fewer, the demo says that there should be more.
    static let wantedCount = 200
    /// The files that are looked for beyond the package's own.
    private static let filledCount = 240
    private static let maxCount = 1000
    private static let maxFileBytes = 2 << 20
    private static let maxBytes = 64 << 20

    let directory: String
    /// Relative to the directory, in order.
    private(set) var paths: [String] = []
    private var byteCount = 0

    /// Those of the package that the current directory belongs to, filled up from the packages it depends on.
    static func ofPackage() throws(Failure) -> DemoFiles {
        try DemoFiles(in: packageDirectory(above: FileManager.default.currentDirectoryPath))
    }

    /// Those below `directory`.
    ///
    /// What Git and the Swift package manager keep there is left out; but while there are too few, the sources of other
    /// packages that were checked out for this one count too.
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

    /// The nearest directory with a `Package.swift`, else `path` itself.
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

    /// Adds the files below a subdirectory in the order of their names; symbolic links are not followed.
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
