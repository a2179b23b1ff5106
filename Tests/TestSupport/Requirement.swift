public import Testing

/// The IDs of the requirements that a test or a suite covers; Scripts/rows reads them in the source.
public struct Requirement: SuiteTrait, TestTrait {
    /// The IDs in Documentation/Requirements.md.
    public let ids: [String]
}

extension Trait where Self == Requirement {
    /// Names the requirements that the test or the suite covers.
    public static func requirement(_ ids: String...) -> Self { Requirement(ids: ids) }
}
