// Re-exports the types of HTTPCaching that callers of CacheLoader need: CachePolicy, CacheControl and Explanation.
@_exported public import HTTPCaching
