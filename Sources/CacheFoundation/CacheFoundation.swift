// The part of Foundation that this package uses: on Linux without internationalization.
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
