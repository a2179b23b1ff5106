/// Properties of the network, and of the device, that make a transfer costly.
///
/// ``Reachability/conditions`` reports them. ``ResourceLoader/Configuration/heldBack`` and
/// ``ResourceLoader/prefetch(_:heldBackBy:)`` name the conditions in which loads wait.
public struct NetworkConditions: OptionSet, Hashable, Sendable {
    /// The conditions as bits.
    public let rawValue: UInt8

    /// Creates conditions from their bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The user asks for little traffic, such as with Low Data Mode.
    public static let constrained = NetworkConditions(rawValue: 1)
    /// The traffic may cost money, as in a cellular network or through a hotspot.
    public static let expensive = NetworkConditions(rawValue: 2)
    /// The device saves energy, as in Low Power Mode.
    public static let lowPower = NetworkConditions(rawValue: 4)
}
