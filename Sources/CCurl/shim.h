#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

#include <curl/curl.h>
#include <stddef.h>

#if LIBCURL_VERSION_NUM < 0x075000
#error "CacheLoader needs libcurl 7.80 or newer: CURLOPT_PREREQFUNCTION keeps it from sending a request twice"
#endif

// Swift cannot call the variadic functions of libcurl: one function for each type of argument.
static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}
// The bytes must live as long as the handle uses them.
static inline CURLcode ccurl_set_blob(CURL *handle, CURLoption option, void *bytes, size_t count) {
    struct curl_blob blob = {bytes, count, CURL_BLOB_NOCOPY};
    return curl_easy_setopt(handle, option, &blob);
}

// Sets the callbacks, which all receive the same pointer.
static inline CURLcode ccurl_set_callbacks(
    CURL *handle, void *context, curl_write_callback head, curl_write_callback body, curl_read_callback content,
    curl_seek_callback rewind, curl_prereq_callback before
) {
    const struct { CURLoption option; void *value; } contexts[] = {
        {CURLOPT_PRIVATE, context}, {CURLOPT_HEADERDATA, context}, {CURLOPT_WRITEDATA, context},
        {CURLOPT_READDATA, context}, {CURLOPT_SEEKDATA, context}, {CURLOPT_PREREQDATA, context},
    };
    for (size_t index = 0; index < sizeof contexts / sizeof *contexts; index++) {
        CURLcode code = curl_easy_setopt(handle, contexts[index].option, contexts[index].value);
        if (code != CURLE_OK) return code;
    }
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, head);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_READFUNCTION, content);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, rewind);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, before);
    return code;
}

// Permits only http and https.
static inline CURLcode ccurl_allow_http(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static inline long ccurl_info_long(CURL *handle, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

// Returns the pointer that the callbacks receive.
static inline void *ccurl_context(CURL *handle) {
    char *value = NULL;
    return curl_easy_getinfo(handle, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

// Returns the path of the system's root certificates, or NULL if libcurl was built without one.
static inline const char *ccurl_system_roots(CURL *handle) {
    char *path = NULL;
#if LIBCURL_VERSION_NUM >= 0x075400
    if (curl_easy_getinfo(handle, CURLINFO_CAINFO, &path) != CURLE_OK) path = NULL;
#endif
    return path;
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// Returns the next ended transfer and its result, or NULL.
static inline CURL *ccurl_multi_next_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

// Wraps macros with casts, which Swift does not import.
static inline CURLcode ccurl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

#endif
