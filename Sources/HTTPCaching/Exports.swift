// Requests, responses and fields of HTTPTypes are in every call of this module, so its users need no second import.
@_exported public import HTTPTypes
