// The folder `Rules/` has the names of the rules that decisions follow, and the policies that change decisions. The
// folder names no type of another folder. The folder reads no request and no response.

/// The section of a specification that a decision follows.
public struct Rule: Hashable, Sendable {
    /// The document and section, such as `RFC 9111 §3`. `policy` or `limit` for decisions without a specification.
    public let section: String
    /// The text of the section, quoted or shortened.
    public let phrase: String

    package init(_ section: String, _ phrase: String) {
        self.section = section
        self.phrase = phrase
    }
}

extension Rule: CustomStringConvertible {
    /// `RFC 9111 §3: a max-age response directive`
    public var description: String { "\(section): \(phrase)" }
}
