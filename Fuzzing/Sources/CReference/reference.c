#include "CReference.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <zstd.h>

ptrdiff_t reference_zstd_decode(const uint8_t *input, size_t count, const uint8_t *dictionary, size_t dictionary_count,
                                int window_log, uint8_t *output, size_t room) {
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, window_log);
    ZSTD_inBuffer in = {input, count, 0};
    ZSTD_outBuffer out = {output, room, 0};
    ptrdiff_t result = -1;
    size_t status = 1;
    while (in.pos < in.size) {
        // A prefix applies to one frame only.
        ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
        if (dictionary_count > 0) ZSTD_DCtx_refPrefix(context, dictionary, dictionary_count);
        do {
            size_t before = in.pos + out.pos;
            status = ZSTD_decompressStream(context, &out, &in);
            if (ZSTD_isError(status)) goto end;
            // No progress: the output has no room, or the input has ended.
            if (status != 0 && in.pos + out.pos == before) {
                if (out.pos == out.size) result = -2;
                goto end;
            }
        } while (status != 0);
    }
    if (status == 0) result = (ptrdiff_t)out.pos;
end:
    ZSTD_freeDCtx(context);
    return result;
}

ptrdiff_t reference_brotli_decode(const uint8_t *input, size_t count, uint8_t *output, size_t room) {
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    size_t rest = count, left = room;
    BrotliDecoderResult status = BrotliDecoderDecompressStream(state, &rest, &input, &left, &output, NULL);
    BrotliDecoderDestroyInstance(state);
    if (status == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) return -2;
    return status == BROTLI_DECODER_RESULT_SUCCESS && rest == 0 ? (ptrdiff_t)(room - left) : -1;
}

size_t reference_zstd_encode(const uint8_t *input, size_t count, const uint8_t *dictionary, size_t dictionary_count,
                             int level, uint8_t *output, size_t room) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, level & 1);
    if (dictionary_count > 0) ZSTD_CCtx_refPrefix(context, dictionary, dictionary_count);
    size_t size = ZSTD_compress2(context, output, room, input, count);
    ZSTD_freeCCtx(context);
    return ZSTD_isError(size) ? 0 : size;
}

size_t reference_brotli_encode(const uint8_t *input, size_t count, int quality, uint8_t *output, size_t room) {
    size_t size = room;
    return BrotliEncoderCompress(quality, 18, BROTLI_MODE_GENERIC, count, input, &size, output) ? size : 0;
}
