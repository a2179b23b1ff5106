// CachePolicy, CacheControl and Explanation are types of HTTPCaching; a file that imports CacheLoader sees them.
@_exported public import HTTPCaching
