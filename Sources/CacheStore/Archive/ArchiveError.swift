/// What is wrong with an archive that was to be imported.
@nonexhaustive
public enum ArchiveError: Error, Hashable, Sendable {
    /// The archive ends before it is complete.
    case truncated
    /// What should be the header of a file is none, or its checksum is wrong.
    case damagedHeader(offset: Int64)
    /// The size of a file is no number, too large a number, or written in a way that is not understood.
    case invalidSize(name: String)
    /// A name stands for something else than a regular file: a link, a folder, a device.
    case unsupportedType(name: String, type: UInt8)
    /// A file has a name that no file of a store has.
    case foreignName(String)
    /// A name comes twice.
    case duplicateName(String)
    /// Something follows the end of the archive.
    case trailingBytes(offset: Int64)
    /// There is no index among the files.
    case missingIndex
    /// The index is not one that this package wrote, or is damaged.
    case damagedIndex(String)
}

extension ArchiveError: CustomStringConvertible {
    /// What is wrong, and where.
    public var description: String {
        switch self {
        case .truncated: "it ends too early"
        case .damagedHeader(let offset): "there is no header of a file at byte \(offset)"
        case .invalidSize(let name): "the size of \(Self.quoted(name)) is not understood"
        case .unsupportedType(let name, let type):
            "\(Self.quoted(name)) is not a regular file but of type \(Self.quoted(String(Unicode.Scalar(type))))"
        case .foreignName(let name): "\(Self.quoted(name)) is not the name of a file of a store"
        case .duplicateName(let name): "\(Self.quoted(name)) comes twice"
        case .trailingBytes(let offset): "something follows its end at byte \(offset)"
        case .missingIndex: "it contains no index.sqlite"
        case .damagedIndex(let reason): "its index cannot be used: \(reason)"
        }
    }

    private static func quoted(_ name: String) -> String { name.prefix(200).debugDescription }
}
