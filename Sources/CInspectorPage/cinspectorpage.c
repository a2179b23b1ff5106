#include "cinspectorpage.h"

// #embed is a directive of C23, which clang has in all modes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char api_js[] = {
#embed "Web/api.js"
};
static const unsigned char app_js[] = {
#embed "Web/app.js"
};
static const unsigned char change_js[] = {
#embed "Web/change.js"
};
static const unsigned char charts_js[] = {
#embed "Web/charts.js"
};
static const unsigned char dom_js[] = {
#embed "Web/dom.js"
};
static const unsigned char entries_js[] = {
#embed "Web/entries.js"
};
static const unsigned char entry_js[] = {
#embed "Web/entry.js"
};
static const unsigned char eviction_js[] = {
#embed "Web/eviction.js"
};
static const unsigned char failures_js[] = {
#embed "Web/failures.js"
};
static const unsigned char format_js[] = {
#embed "Web/format.js"
};
static const unsigned char freshness_js[] = {
#embed "Web/freshness.js"
};
static const unsigned char icon_svg[] = {
#embed "Web/icon.svg"
};
static const unsigned char index_html[] = {
#embed "Web/index.html"
};
static const unsigned char keys_js[] = {
#embed "Web/keys.js"
};
static const unsigned char live_js[] = {
#embed "Web/live.js"
};
static const unsigned char overview_js[] = {
#embed "Web/overview.js"
};
static const unsigned char paging_js[] = {
#embed "Web/paging.js"
};
static const unsigned char panels_css[] = {
#embed "Web/panels.css"
};
static const unsigned char preview_js[] = {
#embed "Web/preview.js"
};
static const unsigned char sql_js[] = {
#embed "Web/sql.js"
};
static const unsigned char style_css[] = {
#embed "Web/style.css"
};
static const unsigned char table_js[] = {
#embed "Web/table.js"
};
static const unsigned char theme_js[] = {
#embed "Web/theme.js"
};
static const unsigned char why_js[] = {
#embed "Web/why.js"
};

#define FILE_NAMED(name, bytes) {name, bytes, sizeof bytes}

static const cinspectorpage_file files[] = {
    FILE_NAMED("api.js", api_js),
    FILE_NAMED("app.js", app_js),
    FILE_NAMED("change.js", change_js),
    FILE_NAMED("charts.js", charts_js),
    FILE_NAMED("dom.js", dom_js),
    FILE_NAMED("entries.js", entries_js),
    FILE_NAMED("entry.js", entry_js),
    FILE_NAMED("eviction.js", eviction_js),
    FILE_NAMED("failures.js", failures_js),
    FILE_NAMED("format.js", format_js),
    FILE_NAMED("freshness.js", freshness_js),
    FILE_NAMED("icon.svg", icon_svg),
    FILE_NAMED("index.html", index_html),
    FILE_NAMED("keys.js", keys_js),
    FILE_NAMED("live.js", live_js),
    FILE_NAMED("overview.js", overview_js),
    FILE_NAMED("paging.js", paging_js),
    FILE_NAMED("panels.css", panels_css),
    FILE_NAMED("preview.js", preview_js),
    FILE_NAMED("sql.js", sql_js),
    FILE_NAMED("style.css", style_css),
    FILE_NAMED("table.js", table_js),
    FILE_NAMED("theme.js", theme_js),
    FILE_NAMED("why.js", why_js),
};

const cinspectorpage_file *cinspectorpage_files(size_t *count) {
    *count = sizeof files / sizeof files[0];
    return files;
}
