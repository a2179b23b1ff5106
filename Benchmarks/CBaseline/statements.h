// The statements of the store, except that a put is one upsert, and the table of the bare index.

#ifndef STATEMENTS_H
#define STATEMENTS_H

static const char lookup_sql[] =
    "SELECT id, kind, variant, url, status, etag, last_modified, content_type, requested_at, received_at,"
    " expires_at, created_at, is_body_decoded, byte_count, body, head, session, is_pinned, tags, key_checksum,"
    " part_start, part_total, groups, search_base"
    " FROM entry WHERE partition = ?1 AND key = ?2 AND (session IS NULL OR session = (SELECT session FROM state))";

static const char insert_sql[] =
    "INSERT INTO entry (partition, key, kind, variant, url, host, status, etag, last_modified, content_type,"
    " requested_at, received_at, expires_at, created_at, is_body_decoded, byte_count, body, head, session, is_pinned,"
    " tags, key_checksum, part_start, part_total, groups, search_base)"
    " VALUES ('', ?1, 0, '', NULL, 'host', 200, '\"5f3c-1\"', 'Tue, 15 Sep 2026 12:45:26 GMT', 'image/jpeg', ?2, ?2,"
    " ?2 + 31536000000, ?2, 0, ?3, ?4, ?5, NULL, 0, NULL, 1, NULL, NULL, NULL, NULL)"
    " ON CONFLICT (partition, key, kind, variant, coalesce(part_start, -1)) DO UPDATE SET"
    " url = excluded.url, host = excluded.host, status = excluded.status, etag = excluded.etag,"
    " last_modified = excluded.last_modified, content_type = excluded.content_type,"
    " requested_at = excluded.requested_at, received_at = excluded.received_at, expires_at = excluded.expires_at,"
    " created_at = excluded.created_at, is_body_decoded = excluded.is_body_decoded,"
    " byte_count = excluded.byte_count, body = excluded.body, head = excluded.head,"
    " key_checksum = excluded.key_checksum, part_total = excluded.part_total, groups = excluded.groups,"
    " search_base = excluded.search_base";

static const char freshen_sql[] =
    "UPDATE entry SET status = 200, etag = '\"5f3c-1\"', last_modified = 'Tue, 15 Sep 2026 12:45:26 GMT',"
    " content_type = 'image/jpeg', requested_at = ?5, received_at = ?5, expires_at = ?5 + 31536000000, head = ?6,"
    " variant = '', groups = NULL, search_base = NULL"
    " WHERE id = ?1 AND partition = ?2 AND key = ?3 AND body IS ?4";

// The entries were never used, so eviction follows the order of their ids.
static const char victims_sql[] = "SELECT id, body FROM entry ORDER BY id LIMIT ?1";
static const char delete_sql[] = "DELETE FROM entry WHERE id = ?1";
static const char count_sql[] = "SELECT entry_count FROM total";

static const char bare_sql[] =
    "PRAGMA journal_mode = WAL;"
    "CREATE TABLE IF NOT EXISTS entry (id INTEGER NOT NULL PRIMARY KEY, partition TEXT NOT NULL, key TEXT NOT NULL,"
    " kind INTEGER NOT NULL, variant TEXT NOT NULL, url TEXT, host TEXT NOT NULL, status INTEGER NOT NULL, etag TEXT,"
    " last_modified TEXT, content_type TEXT, requested_at INTEGER NOT NULL, received_at INTEGER NOT NULL,"
    " expires_at INTEGER, created_at INTEGER NOT NULL, is_body_decoded INTEGER NOT NULL, byte_count INTEGER NOT NULL,"
    " body BLOB, head TEXT NOT NULL, session INTEGER, is_pinned INTEGER NOT NULL, tags TEXT, key_checksum INTEGER,"
    " part_start INTEGER, part_total INTEGER, groups TEXT, search_base TEXT) STRICT;"
    "CREATE UNIQUE INDEX IF NOT EXISTS entry_by_key"
    " ON entry (partition, key, kind, variant, coalesce(part_start, -1));";

// The stored head of a response of this size: field lines, 300 bytes.
static const char head_text[] =
    "Date: Sat, 21 Nov 2026 07:28:00 GMT\n"
    "Content-Type: image/jpeg\n"
    "Content-Length: 16384\n"
    "Cache-Control: public, max-age=31536000\n"
    "ETag: \"5f3c-1\"\n"
    "Last-Modified: Tue, 15 Sep 2026 12:45:26 GMT\n"
    "Server: nginx\n"
    "X-Request-Id: 7b0f2f6e-2f3a-4b7e-9f0e-1\n";

#endif
