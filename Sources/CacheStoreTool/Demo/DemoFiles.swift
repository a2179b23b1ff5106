import Foundation
import LoopbackOrigin

/// The files of a directory that the demo's origin serves.
struct DemoFiles {
    private static let maxCount = 1000
    private static let maxFileBytes = 2 << 20
    private static let maxBytes = 64 << 20

    let directory: String
    /// The paths relative to the directory, sorted.
    private(set) var paths: [String] = []
    private var byteCount = 0

    /// Collects the files below `directory`, except those of Git and of the Swift package manager.
    init(in directory: String) throws(Failure) {
        self.directory = directory
        collect("", upTo: Self.maxCount) { $0.hasPrefix(".build") || $0 == ".git" }
        guard !paths.isEmpty else {
            throw Failure(.broken, "\(directory): there are no files to serve; choose another directory with --files")
        }
    }

    /// Reads the files.
    func served() throws(Failure) -> FileOrigin {
        do {
            return try FileOrigin(directory: directory, paths: paths, cacheControl: DemoScenario.cacheControl)
        } catch {
            throw Failure(.broken, "\(directory): a file to serve cannot be read: \(error)")
        }
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
