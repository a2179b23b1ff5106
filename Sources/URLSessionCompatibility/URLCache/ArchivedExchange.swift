internal import CacheStore
internal import Foundation

/// A request and the head of its response, as a `URLCache` archives both.
///
/// Each is a binary property list of a version and an array. The version of the request is 9 today, that of the response 1:
///
///     request    …, {_CFURLString: URL}, …, method, {name: value, …}, …
///     response   {_CFURLString: URL}, seconds since 2001, …, status, {name: value, …}, length, type
///
/// Positions in the array differ between systems. So this type looks for values by their form, and takes a row with
/// anything else as unreadable. CFNetwork writes a token such as `__CFURLRequestNullTokenString__` in place of a missing
/// value.
struct ArchivedExchange {
    let method: String
    let url: String
    let requestFields: [Field]
    let responseURL: String
    let status: Int
    let responseFields: [Field]
    /// When the head of the response arrived; `nil` if the array has no such time.
    let receivedAt: Date?

    typealias Field = (name: String, value: String)

    /// No origin sends more, and `HTTPFields` has a limit.
    private static let maxFieldCount = 1_000
    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE",
    ]

    /// Returns `nil` for property lists of another form.
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
                        // The first is that of the request; a second one is the URL of the document.
                        url = url ?? text
                    } else if fields == nil {
                        // The archive of the fields as they were spelled; the other members have the same.
                        fields = members.filter { $0.name != "__hhaa__" }
                    }
                case .integer, .real, .array, .other: break
                }
            }
        }

        /// Returns the members with text values; `nil` if they are too many, or too long for the store.
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
