internal import CacheStore
internal import Foundation

/// A request and the head of its response, as archived by a `URLCache`. Each is a binary property list of a version and
/// an array. The current version is 9 for the request and 1 for the response:
///
///     request    …, {_CFURLString: URL}, …, method, {name: value, …}, …
///     response   {_CFURLString: URL}, seconds since 2001, …, status, {name: value, …}, length, type
///
/// Positions in the array differ between systems. So this type identifies values by their form, and treats a row with
/// any other values as unreadable. CFNetwork writes a token such as `__CFURLRequestNullTokenString__` for a missing
/// value.
struct ArchivedExchange {
    let method: String
    let url: String
    let requestFields: [Field]
    let responseURL: String
    let status: Int
    let responseFields: [Field]
    /// The time when the head of the response arrived, or `nil` for an array without this time.
    let receivedAt: Date?

    typealias Field = (name: String, value: String)

    /// No real origin sends more, and `HTTPFields` has a limit.
    private static let maxFieldCount = 1_000
    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE",
    ]

    /// Returns `nil` for property lists of another structure.
    init?(request: Data, response: Data) {
        guard let request = Archive(request), let response = Archive(response),
            let url = request.url, let method = request.strings.first(where: Self.methods.contains),
            let responseURL = response.url, let responseFields = response.fields,
            let status = response.numbersBeforeFields.last(where: { (100...599).contains($0) })
        else { return nil }
        self.method = method
        self.url = url
        self.requestFields = request.fields ?? []
        self.responseURL = responseURL
        self.responseFields = responseFields
        self.status = Int(status)
        receivedAt = response.realsBeforeFields.first.flatMap { seconds in
            seconds.isFinite && abs(seconds) < 1e11 ? Date(timeIntervalSinceReferenceDate: seconds) : nil
        }
    }

    /// The values of one array that an exchange needs.
    private struct Archive {
        var url: String?
        var fields: [Field]?
        var strings: [String] = []
        var numbersBeforeFields: [Int64] = []
        var realsBeforeFields: [Double] = []

        init?(_ data: Data) {
            guard let list = BinaryPropertyList(data), case .dictionary(let pairs) = list.object(list.root),
                let array = pairs.first(where: {
                    if case .string("Array")? = list.object($0.key) { true } else { false }
                }),
                case .array(let elements) = list.object(array.value), elements.count <= 100
            else { return nil }
            for element in elements {
                guard let object = list.object(element) else { return nil }
                switch object {
                case .string(let text): strings.append(text)
                case .integer(let number) where fields == nil: numbersBeforeFields.append(number)
                case .real(let number) where fields == nil: realsBeforeFields.append(number)
                case .dictionary(let pairs):
                    guard let members = Self.members(of: pairs, in: list) else { continue }
                    if let text = members.first(where: { $0.name == "_CFURLString" })?.value {
                        // The first URL is that of the request. A second URL is that of the document.
                        url = url ?? text
                    } else if fields == nil {
                        // Omits the archive of the fields in their original spelling, because the other members have
                        // the same values.
                        fields = members.filter { $0.name != "__hhaa__" }
                    }
                case .integer, .real, .array, .other: break
                }
            }
        }

        /// Returns the members with text values, or `nil` for more or longer members than the store accepts.
        private static func members(
            of pairs: [(key: Int, value: Int)], in list: BinaryPropertyList
        ) -> [Field]? {
            guard pairs.count <= maxFieldCount else { return nil }
            var members: [Field] = []
            var byteCount = 0
            for pair in pairs {
                guard case .string(let name) = list.object(pair.key), case .string(let value) = list.object(pair.value)
                else { continue }
                byteCount += name.utf8.count + value.utf8.count
                guard byteCount <= EntryMetadata.maxHeadByteCount else { return nil }
                members.append((name, value))
            }
            return members
        }
    }
}
