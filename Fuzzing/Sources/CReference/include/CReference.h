#ifndef CREFERENCE_H
#define CREFERENCE_H

#include <stddef.h>
#include <stdint.h>

// Each decoder returns the length of the decoded bytes, -1 for malformed or incomplete input or bytes after its end,
// and -2 if the output has no room.

// Decodes whole Zstandard frames in one call. The window has at most 1 << window_log bytes.
ptrdiff_t reference_zstd_decode(const uint8_t *input, size_t count, const uint8_t *dictionary, size_t dictionary_count,
                                int window_log, uint8_t *output, size_t room);

// Decodes one Brotli stream in one call.
ptrdiff_t reference_brotli_decode(const uint8_t *input, size_t count, uint8_t *output, size_t room);

// Encodes with a raw dictionary. Returns 0 if the output has no room.
size_t reference_zstd_encode(const uint8_t *input, size_t count, const uint8_t *dictionary, size_t dictionary_count,
                             int level, uint8_t *output, size_t room);

// Encodes. Returns 0 if the output has no room.
size_t reference_brotli_encode(const uint8_t *input, size_t count, int quality, uint8_t *output, size_t room);

#endif
