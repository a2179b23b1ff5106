public import CacheFoundation

/// A value that knows its size in memory. For any other value, the loader assumes the size of the bytes from which it
/// was made.
public protocol MemoryCosting {
    /// The size in bytes.
    var memoryCost: Int { get }
}

extension Data: MemoryCosting {
    /// The number of bytes.
    public var memoryCost: Int { count }
}

extension String: MemoryCosting {
    /// The number of bytes in UTF-8.
    public var memoryCost: Int { utf8.count }
}
