#include "cinspectorpage.h"

// #embed is a directive of C23, which clang has in all modes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const cinspectorpage_file files[] = {
    {"api.js", (const unsigned char[]){
#embed "Web/api.js" suffix(, 0)
    }},
    {"app.js", (const unsigned char[]){
#embed "Web/app.js" suffix(, 0)
    }},
    {"change.js", (const unsigned char[]){
#embed "Web/change.js" suffix(, 0)
    }},
    {"charts.js", (const unsigned char[]){
#embed "Web/charts.js" suffix(, 0)
    }},
    {"dom.js", (const unsigned char[]){
#embed "Web/dom.js" suffix(, 0)
    }},
    {"entries.js", (const unsigned char[]){
#embed "Web/entries.js" suffix(, 0)
    }},
    {"entry.js", (const unsigned char[]){
#embed "Web/entry.js" suffix(, 0)
    }},
    {"eviction.js", (const unsigned char[]){
#embed "Web/eviction.js" suffix(, 0)
    }},
    {"failures.js", (const unsigned char[]){
#embed "Web/failures.js" suffix(, 0)
    }},
    {"format.js", (const unsigned char[]){
#embed "Web/format.js" suffix(, 0)
    }},
    {"freshness.js", (const unsigned char[]){
#embed "Web/freshness.js" suffix(, 0)
    }},
    {"icon.svg", (const unsigned char[]){
#embed "Web/icon.svg" suffix(, 0)
    }},
    {"index.html", (const unsigned char[]){
#embed "Web/index.html" suffix(, 0)
    }},
    {"keys.js", (const unsigned char[]){
#embed "Web/keys.js" suffix(, 0)
    }},
    {"live.js", (const unsigned char[]){
#embed "Web/live.js" suffix(, 0)
    }},
    {"overview.js", (const unsigned char[]){
#embed "Web/overview.js" suffix(, 0)
    }},
    {"paging.js", (const unsigned char[]){
#embed "Web/paging.js" suffix(, 0)
    }},
    {"panels.css", (const unsigned char[]){
#embed "Web/panels.css" suffix(, 0)
    }},
    {"preview.js", (const unsigned char[]){
#embed "Web/preview.js" suffix(, 0)
    }},
    {"sql.js", (const unsigned char[]){
#embed "Web/sql.js" suffix(, 0)
    }},
    {"style.css", (const unsigned char[]){
#embed "Web/style.css" suffix(, 0)
    }},
    {"table.js", (const unsigned char[]){
#embed "Web/table.js" suffix(, 0)
    }},
    {"theme.js", (const unsigned char[]){
#embed "Web/theme.js" suffix(, 0)
    }},
    {"why.js", (const unsigned char[]){
#embed "Web/why.js" suffix(, 0)
    }},
};

const cinspectorpage_file *cinspectorpage_files(size_t *count) {
    *count = sizeof files / sizeof files[0];
    return files;
}
