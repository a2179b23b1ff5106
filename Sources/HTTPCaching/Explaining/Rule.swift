/// The place in a specification that a decision rests on.
public struct Rule: Hashable, Sendable {
    /// Document and section: `RFC 9111 §3`; `policy` or `limit` where this cache alone decides.
    public let section: String
    /// What stands there, in its words or in short.
    public let phrase: String

    /// Creates a rule.
    package init(_ section: String, _ phrase: String) {
        self.section = section
        self.phrase = phrase
    }
}

extension Rule: CustomStringConvertible {
    /// `RFC 9111 §3: a max-age response directive`
    public var description: String { "\(section): \(phrase)" }
}
