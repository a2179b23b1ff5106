/// The content codings that `URLSession` removes from a body.
package enum ContentCodings {
    /// Those of Apple's systems.
    private static let removedByApple = ["gzip", "deflate", "br"]
    #if canImport(Darwin)
    private static let removed = removedByApple
    #else
    private static let removed = ["gzip", "deflate"]
    #endif

    static let accepted = removed.joined(separator: ", ")

    /// Returns whether the session of this system removes `codings`, the value of `Content-Encoding`.
    package static func removes(_ codings: String) -> Bool {
        isSubset(codings, of: removed)
    }

    /// Returns whether the session of Apple's systems removes `codings`, also if this is another system.
    package static func areRemovedByApple(_ codings: String) -> Bool {
        isSubset(codings, of: removedByApple)
    }

    private static func isSubset(_ codings: String, of removed: [String]) -> Bool {
        let codings = codings.lowercased().split(separator: ",").map { String($0.filter { $0 != " " && $0 != "\t" }) }
        return !codings.isEmpty && codings.allSatisfy { removed.contains($0) || $0 == "x-gzip" }
    }
}

extension HTTPFields {
    /// Removes the fields that describe the encoded bytes of a body that is decoded (RFC 9110 §8.6, RFC 9530 §6.5).
    package mutating func removeEncodedDescription() {
        removeAll {
            ["content-encoding", "content-length", "content-digest", "repr-digest"].contains($0.name.canonicalName)
        }
    }
}
