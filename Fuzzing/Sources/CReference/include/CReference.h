#ifndef CREFERENCE_H
#define CREFERENCE_H

#include <stddef.h>
#include <stdint.h>

// Each decoder returns the length of the decoded bytes; -1 if the input is malformed or incomplete, or has bytes behind its
// end, and -2 if the output has no room.

// Decodes whole Zstandard frames at once. The window has at most 1 << window_log bytes.
ptrdiff_t reference_zstd_decode(const uint8_t *input, size_t count, const uint8_t *dictionary, size_t dictionary_count,
                                int window_log, uint8_t *output, size_t room);

// Decodes one Brotli stream at once.
ptrdiff_t reference_brotli_decode(const uint8_t *input, size_t count, uint8_t *output, size_t room);

// Encodes with a raw dictionary; 0 if the output has no room.
size_t reference_zstd_encode(const uint8_t *input, size_t count, const uint8_t *dictionary, size_t dictionary_count,
                             int level, uint8_t *output, size_t room);

// Encodes; 0 if the output has no room.
size_t reference_brotli_encode(const uint8_t *input, size_t count, int quality, uint8_t *output, size_t room);

#endif
