// A loader or a cache is made with a transport, so its users need no second import.
@_exported public import CacheTransport
// Callers need types of HTTPCaching, too: CachePolicy, CacheControl and Explanation. HTTPCaching exports HTTPTypes.
@_exported public import HTTPCaching
