#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A value that knows how many bytes of memory it takes. One that does not is taken for as large as what it was made of.
public protocol MemoryCosting {
    /// The bytes that it takes.
    var memoryCost: Int { get }
}

extension Data: MemoryCosting {
    /// Its length.
    public var memoryCost: Int { count }
}

extension String: MemoryCosting {
    /// The length of its UTF-8.
    public var memoryCost: Int { utf8.count }
}
