#ifndef CBROTLI_SHIM_H
#define CBROTLI_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <brotli/decode.h>

// The library has dictionaries since version 1.1.
#if defined(__has_include)
#if __has_include(<brotli/shared_dictionary.h>)
#include <brotli/shared_dictionary.h>
#define CBROTLI_HAS_DICTIONARIES 1
#endif
#endif

static inline bool cbrotli_has_dictionaries(void) {
#ifdef CBROTLI_HAS_DICTIONARIES
    return true;
#else
    return false;
#endif
}

// Attaches a raw dictionary to a decoder. The dictionary must outlive the decoder.
static inline bool cbrotli_attach_dictionary(BrotliDecoderState *state, const uint8_t *dictionary, size_t size) {
#ifdef CBROTLI_HAS_DICTIONARIES
    return BrotliDecoderAttachDictionary(state, BROTLI_SHARED_DICTIONARY_RAW, size, dictionary) == BROTLI_TRUE;
#else
    return false;
#endif
}

#endif
