/// The supported `Cache-Control` directives of a request or response (RFC 9111 §5.2).
///
/// The parser ignores unknown directives and reads malformed elements strictly: a restriction still applies, a
/// permission does not, and a number becomes ``DeltaSeconds/malformed``. Parsing costs one pass over the bytes.
/// ``fieldValue`` writes the directives.
public struct CacheControl: Hashable, Sendable {
    /// `max-age`, of a request (RFC 9111 §5.2.1.1) or response (§5.2.2.1).
    public var maxAge = DeltaSeconds.absent
    /// `s-maxage`, of a response to a shared cache (RFC 9111 §5.2.2.10).
    public var sharedMaxAge = DeltaSeconds.absent
    /// `max-stale`, of a request (RFC 9111 §5.2.1.2). `Int64.max` without an argument.
    public var maxStale = DeltaSeconds.absent
    /// `min-fresh`, of a request (RFC 9111 §5.2.1.3).
    public var minFresh = DeltaSeconds.absent
    /// `stale-while-revalidate`, of a response (RFC 5861 §3).
    public var staleWhileRevalidate = DeltaSeconds.absent
    /// `stale-if-error`, of a request or response (RFC 5861 §4).
    public var staleIfError = DeltaSeconds.absent
    /// `no-cache` without field names (RFC 9111 §5.2.1.4, §5.2.2.4).
    public var noCache = false
    /// The field names of `no-cache="…"`, in lower case (RFC 9111 §5.2.2.4).
    public var noCacheFields: [String] = []
    /// `no-store`, of a request or response (RFC 9111 §5.2.1.5, §5.2.2.5).
    public var noStore = false
    /// `no-transform`, of a request or response (RFC 9111 §5.2.1.6, §5.2.2.6).
    public var noTransform = false
    /// `private`, of a response, with or without field names (RFC 9111 §5.2.2.7).
    public var isPrivate = false
    /// Whether `private` appears only in malformed elements. These restrict, but only a well-formed `private` also
    /// permits a private cache to store the response.
    package var privateIsMalformed = false
    /// `public`, of a response (RFC 9111 §5.2.2.9).
    public var isPublic = false
    /// `must-revalidate`, of a response (RFC 9111 §5.2.2.2).
    public var mustRevalidate = false
    /// Whether `must-revalidate` appears only in malformed elements. These restrict, but only a well-formed
    /// `must-revalidate` also permits a shared cache to store the response to a request with `Authorization`.
    package var mustRevalidateIsMalformed = false
    /// `proxy-revalidate`, of a response (RFC 9111 §5.2.2.8).
    public var proxyRevalidate = false
    /// `must-understand`, of a response (RFC 9111 §5.2.2.3).
    public var mustUnderstand = false
    /// `immutable`, of a response (RFC 8246).
    public var isImmutable = false
    /// `only-if-cached`, of a request (RFC 9111 §5.2.1.7).
    public var onlyIfCached = false

    /// Creates an instance without directives.
    public init() {}

    /// Reads the directives of all `Cache-Control` lines, in order.
    public init(_ fields: HTTPFields) {
        for field in fields where field.isCacheControl { combine(field) }
    }

    /// Whether a shared cache may store the response to a request with `Authorization` (RFC 9111 §3.5).
    var allowsSharing: Bool {
        if case .seconds = sharedMaxAge { return true }
        return isPublic || (mustRevalidate && !mustRevalidateIsMalformed)
    }

    /// RFC 9111 §5.2.2.3: a cache that supports `must-understand` ignores `no-store`.
    var forbidsStoring: Bool { noStore && !mustUnderstand }

    /// Adds the directives of another line.
    mutating func combine(_ field: HTTPField) {
        field.withUnsafeBytesOfValue { bytes in
            var scanner = FieldScanner(bytes)
            read(&scanner)
        }
    }
}

extension HTTPField {
    /// Whether this is a `Cache-Control` line. Compares lengths first, because most names have a different length.
    fileprivate var isCacheControl: Bool { name.canonicalName.utf8.count == 13 && name == .cacheControl }
}

// MARK: - Parsing

extension CacheControl {
    private enum Argument {
        case none
        case token(FieldBytes)
        case quoted(FieldBytes)
        /// An "=" without a value.
        case missing
        case unterminated

        var isMissing: Bool { if case .missing = self { true } else { false } }
    }

    private mutating func read(_ scanner: inout FieldScanner) {
        while scanner.skipToElement() {
            let name = scanner.token()
            let argument = Self.argument(&scanner)
            if case .unterminated = argument {
                restrict(name)
                restrictByRest(&scanner, beyondCommas: true)
            } else if scanner.isAtEndOfElement(), !argument.isMissing {
                apply(name, argument)
            } else {
                // "max-age =60", "max-age=60; foo", "max-age=60 no-store", "max-age="
                restrict(name)
                restrictByRest(&scanner, beyondCommas: false)
            }
        }
    }

    /// RFC 9111 §5.2: `cache-directive = token [ "=" ( token / quoted-string ) ]`, with no space around the "=".
    private static func argument(_ scanner: inout FieldScanner) -> Argument {
        guard scanner.skip(UInt8(ascii: "=")) else { return .none }
        guard scanner.next == UInt8(ascii: "\"") else {
            let token = scanner.token()
            return token.isEmpty ? .missing : .token(token)
        }
        return scanner.quotedString().map(Argument.quoted) ?? .unterminated
    }

    /// Reads the rest of a malformed element and applies only its restrictions. After an unterminated quote, data and
    /// directives are indistinguishable. With `beyondCommas`, the parser therefore searches the whole rest of the field
    /// value and ignores quotes.
    private mutating func restrictByRest(_ scanner: inout FieldScanner, beyondCommas: Bool) {
        var beyondCommas = beyondCommas
        while let byte = scanner.next {
            if byte == UInt8(ascii: ","), !beyondCommas { return }
            if byte.isTokenByte {
                restrict(scanner.token())
            } else if byte == UInt8(ascii: "\""), !beyondCommas {
                beyondCommas = scanner.quotedString() == nil
            } else {
                scanner.advance()
            }
        }
    }

    // RFC 9111 §4.2.1: the first occurrence of a duplicate directive counts.
    private mutating func apply(_ name: FieldBytes, _ argument: Argument) {
        // Compare lengths first: this code runs on every hit, and most names differ in length.
        switch name.count {
        case 6 where name.isCaseInsensitively("public"): isPublic = true
        case 7 where name.isCaseInsensitively("max-age"): maxAge.setIfAbsent(Self.seconds(argument))
        case 7 where name.isCaseInsensitively("private"):
            isPrivate = true
            privateIsMalformed = false
        case 8 where name.isCaseInsensitively("s-maxage"): sharedMaxAge.setIfAbsent(Self.seconds(argument))
        case 8 where name.isCaseInsensitively("no-cache"): addNoCache(argument)
        case 9 where name.isCaseInsensitively("max-stale"):
            if case .none = argument {
                maxStale.setIfAbsent(.seconds(.max))
            } else {
                maxStale.setIfAbsent(Self.seconds(argument))
            }
        case 9 where name.isCaseInsensitively("min-fresh"): minFresh.setIfAbsent(Self.seconds(argument))
        // RFC 8246 §2: "Any arguments provided to the directive MUST be ignored."
        case 9 where name.isCaseInsensitively("immutable"): isImmutable = true
        case 14 where name.isCaseInsensitively("stale-if-error"): staleIfError.setIfAbsent(Self.seconds(argument))
        case 15 where name.isCaseInsensitively("must-understand"): mustUnderstand = true
        case 15 where name.isCaseInsensitively("must-revalidate"):
            mustRevalidate = true
            mustRevalidateIsMalformed = false
        case 22 where name.isCaseInsensitively("stale-while-revalidate"):
            staleWhileRevalidate.setIfAbsent(Self.seconds(argument))
        default: restrict(name)
        }
    }

    /// Applies the restriction of a directive whose argument is unreadable or irrelevant.
    private mutating func restrict(_ name: FieldBytes) {
        switch name.count {
        case 7 where name.isCaseInsensitively("max-age"): maxAge.setIfAbsent(.malformed)
        case 7 where name.isCaseInsensitively("private"):
            if !isPrivate { privateIsMalformed = true }
            isPrivate = true
        case 8 where name.isCaseInsensitively("s-maxage"): sharedMaxAge.setIfAbsent(.malformed)
        case 8 where name.isCaseInsensitively("no-cache"): noCache = true
        case 8 where name.isCaseInsensitively("no-store"): noStore = true
        case 9 where name.isCaseInsensitively("max-stale"): maxStale.setIfAbsent(.malformed)
        case 9 where name.isCaseInsensitively("min-fresh"): minFresh.setIfAbsent(.malformed)
        case 12 where name.isCaseInsensitively("no-transform"): noTransform = true
        case 14 where name.isCaseInsensitively("only-if-cached"): onlyIfCached = true
        case 14 where name.isCaseInsensitively("stale-if-error"): staleIfError.setIfAbsent(.malformed)
        case 15 where name.isCaseInsensitively("must-revalidate"):
            if !mustRevalidate { mustRevalidateIsMalformed = true }
            mustRevalidate = true
        case 16 where name.isCaseInsensitively("proxy-revalidate"): proxyRevalidate = true
        case 22 where name.isCaseInsensitively("stale-while-revalidate"): staleWhileRevalidate.setIfAbsent(.malformed)
        default: break
        }
    }

    private static func seconds(_ argument: Argument) -> DeltaSeconds {
        switch argument {
        case .token(let bytes), .quoted(let bytes): DeltaSeconds(bytes)
        case .none, .missing, .unterminated: .malformed
        }
    }

    /// RFC 9111 §5.2.2.4: field names limit `no-cache` to these fields. `no-cache` with any other argument applies to
    /// the whole response.
    private mutating func addNoCache(_ argument: Argument) {
        switch argument {
        case .token(let bytes), .quoted(let bytes):
            guard let names = bytes.lowercasedTokens, !names.isEmpty else { fallthrough }
            noCacheFields += names
        case .none, .missing, .unterminated:
            noCache = true
        }
    }
}
