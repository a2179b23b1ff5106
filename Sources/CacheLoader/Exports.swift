// A loader or a cache is made with a transport, so its users need no second import.
@_exported public import CacheTransport
