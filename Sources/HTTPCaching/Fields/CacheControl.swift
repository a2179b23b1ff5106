package import HTTPTypes

/// The `Cache-Control` of a request or a response (RFC 9111 §5.2), as far as this cache acts on it.
///
/// Directives it does not know are ignored. What cannot be read is taken the strict way: a restriction in a malformed
/// element still restricts, a permission in it permits nothing, and a number in it is ``DeltaSeconds/malformed``.
package struct CacheControl: Hashable, Sendable {
    /// `max-age`
    package var maxAge = DeltaSeconds.absent
    /// `s-maxage`
    package var sharedMaxAge = DeltaSeconds.absent
    /// `max-stale`; without an argument the largest number there is.
    package var maxStale = DeltaSeconds.absent
    /// `min-fresh`
    package var minFresh = DeltaSeconds.absent
    /// `stale-while-revalidate` (RFC 5861 §3)
    package var staleWhileRevalidate = DeltaSeconds.absent
    /// `stale-if-error` (RFC 5861 §4)
    package var staleIfError = DeltaSeconds.absent
    /// `no-cache` without field names.
    package var noCache = false
    /// The field names of `no-cache="…"`, in lower case.
    package var noCacheFields: [String] = []
    /// `no-store`
    package var noStore = false
    /// `private`, with field names or without.
    package var isPrivate = false
    /// Whether a `private` is in a well-formed element: beside what it forbids, that also permits something.
    package var privateIsReadable = false
    /// `public`
    package var isPublic = false
    /// `must-revalidate`
    package var mustRevalidate = false
    /// Whether a `must-revalidate` is in a well-formed element: beside what it forbids, that also permits something.
    package var mustRevalidateIsReadable = false
    /// `proxy-revalidate`
    package var proxyRevalidate = false
    /// `must-understand`
    package var mustUnderstand = false
    /// `immutable` (RFC 8246)
    package var isImmutable = false
    /// `only-if-cached`
    package var onlyIfCached = false

    /// No directives.
    package init() {}

    /// The directives of every `Cache-Control` line, in order.
    package init(_ fields: HTTPFields) {
        for field in fields where field.isCacheControl { combine(field) }
    }

    /// Whether a shared cache may store a response with these to a request with `Authorization` (RFC 9111 §3.5).
    var allowsSharing: Bool {
        if case .seconds = sharedMaxAge { return true }
        return isPublic || mustRevalidateIsReadable
    }

    /// Adds the directives of one more line.
    mutating func combine(_ field: HTTPField) {
        field.withUnsafeBytesOfValue { bytes in
            var scanner = FieldScanner(bytes)
            read(&scanner)
        }
    }
}

extension HTTPField {
    /// Whether this is a line of `Cache-Control`. Compares lengths first: most names have another.
    fileprivate var isCacheControl: Bool { name.canonicalName.utf8.count == 13 && name == .cacheControl }
}

// MARK: - Parsing

extension CacheControl {
    private enum Argument {
        case none
        case token(FieldBytes)
        case quoted(FieldBytes)
        /// Nothing follows the "=".
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

    /// Reads on in an element that is not well-formed and heeds what restricts.
    ///
    /// After a quote that is never closed nobody can tell data from directives any more, so `beyondCommas` everything up
    /// to the end is searched, and quotes mean nothing.
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

    // RFC 9111 §4.2.1: of a directive that comes twice the first occurrence counts.
    private mutating func apply(_ name: FieldBytes, _ argument: Argument) {
        // Lengths first: this runs on every hit, and most names have a length of their own.
        switch name.count {
        case 6 where name.isCaseInsensitively("public"): isPublic = true
        case 7 where name.isCaseInsensitively("max-age"): maxAge.setIfAbsent(Self.seconds(argument))
        case 7 where name.isCaseInsensitively("private"):
            isPrivate = true
            privateIsReadable = true
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
            mustRevalidateIsReadable = true
        case 22 where name.isCaseInsensitively("stale-while-revalidate"):
            staleWhileRevalidate.setIfAbsent(Self.seconds(argument))
        default: restrict(name)
        }
    }

    /// Heeds a directive whose argument cannot be told, or does not matter.
    private mutating func restrict(_ name: FieldBytes) {
        switch name.count {
        case 7 where name.isCaseInsensitively("max-age"): maxAge.setIfAbsent(.malformed)
        case 7 where name.isCaseInsensitively("private"): isPrivate = true
        case 8 where name.isCaseInsensitively("s-maxage"): sharedMaxAge.setIfAbsent(.malformed)
        case 8 where name.isCaseInsensitively("no-cache"): noCache = true
        case 8 where name.isCaseInsensitively("no-store"): noStore = true
        case 9 where name.isCaseInsensitively("max-stale"): maxStale.setIfAbsent(.malformed)
        case 9 where name.isCaseInsensitively("min-fresh"): minFresh.setIfAbsent(.malformed)
        case 14 where name.isCaseInsensitively("only-if-cached"): onlyIfCached = true
        case 14 where name.isCaseInsensitively("stale-if-error"): staleIfError.setIfAbsent(.malformed)
        case 15 where name.isCaseInsensitively("must-revalidate"): mustRevalidate = true
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

    /// RFC 9111 §5.2.2.4: field names limit `no-cache` to these fields. What is no list of names limits nothing.
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
