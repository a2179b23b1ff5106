// Sources/CPlatform/include/cplatform.h, as Swift imports it where its types are Darwin's. Its headers are re-exported.
@_exported public import Darwin

public func cplatform_errno() -> Int32 { 0 }
public func cplatform_map_failed() -> UnsafeMutableRawPointer! { nil }
public func cplatform_file_type_mask() -> mode_t { 0 }
public func cplatform_regular_file_type() -> mode_t { 0 }
public func cplatform_directory_type() -> mode_t { 0 }
@discardableResult public func cplatform_open(_: Int32, _: UnsafePointer<CChar>!, _: Int32, _: mode_t) -> Int32 { 0 }
@discardableResult public func cplatform_unlink(_: Int32, _: UnsafePointer<CChar>!) -> Int32 { 0 }
@discardableResult public func cplatform_write(_: Int32, _: UnsafeRawPointer!, _: Int) -> Int { 0 }
@discardableResult public func cplatform_pwrite(_: Int32, _: UnsafeRawPointer!, _: Int, _: Int64) -> Int { 0 }
@discardableResult public func cplatform_pread(_: Int32, _: UnsafeMutableRawPointer!, _: Int, _: Int64) -> Int { 0 }
@discardableResult public func cplatform_full_sync(_: Int32) -> Int32 { 0 }
@discardableResult public func cplatform_open_beneath(_: Int32, _: UnsafePointer<CChar>!) -> Int32 { 0 }
@discardableResult public func cplatform_open_unnamed(_: Int32) -> Int32 { 0 }
@discardableResult public func cplatform_link_descriptor(_: Int32, _: Int32, _: UnsafePointer<CChar>!) -> Int32 { 0 }
@discardableResult public func cplatform_replace(_: Int32, _: Int32) -> Int32 { 0 }
@discardableResult public func cplatform_lock_bytes(_: Int32, _: Int64, _: Int64) -> Int32 { 0 }
@discardableResult public func cplatform_unlock_byte(_: Int32, _: Int64) -> Int32 { 0 }
@discardableResult public func cplatform_is_byte_locked(_: Int32, _: Int64) -> Int32 { 0 }
@discardableResult public func cplatform_clone_file(_: Int32, _: Int32, _: UnsafePointer<CChar>!) -> Int32 { 0 }
@discardableResult public func cplatform_clone_into(_: Int32, _: Int32) -> Int32 { 0 }
@discardableResult public func cplatform_copy_range(_: Int32, _: Int64, _: Int32, _: Int64) -> Int64 { 0 }
public func cplatform_coarse_milliseconds() -> Int64 { 0 }
@discardableResult public func cplatform_find_locked_bytes(
    _: Int32, _: UnsafeMutablePointer<Int64>, _: UnsafeMutablePointer<Int64>
) -> Int32 { 0 }
