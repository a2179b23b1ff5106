// The part of Foundation that this package uses. On Linux, that part excludes internationalization.
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
