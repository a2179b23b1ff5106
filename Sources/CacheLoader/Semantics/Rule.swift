/// The place in a specification that a decision rests on.
package struct Rule: Hashable, Sendable {
    /// Document and section: `RFC 9111 §3`.
    package let section: String
    /// What stands there, in its words.
    package let phrase: String

    /// Creates a rule.
    package init(_ section: String, _ phrase: String) {
        self.section = section
        self.phrase = phrase
    }
}

extension Rule: CustomStringConvertible {
    /// `RFC 9111 §3: a max-age response directive`
    package var description: String { "\(section): \(phrase)" }
}
