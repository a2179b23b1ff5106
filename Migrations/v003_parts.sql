-- Parts of bodies; groups of responses (RFC 9875); URLs whose query does not matter in full (No-Vary-Search).
-- Constant time but for the index of keys, which is built anew.

ALTER TABLE entry ADD COLUMN part_start INTEGER; -- position of the first byte of a part; NULL when the body is whole
ALTER TABLE entry ADD COLUMN part_total INTEGER; -- length of the whole that it is part of; NULL when that is not known
ALTER TABLE entry ADD COLUMN groups TEXT;        -- its Cache-Groups, a JSON array; NULL for none
ALTER TABLE entry ADD COLUMN search_base TEXT;   -- the URL without its query, if No-Vary-Search makes others as good

-- Parts of one response stand beside each other, and beside the whole.
DROP INDEX entry_by_key;
CREATE UNIQUE INDEX entry_by_key ON entry (partition, key, kind, variant, coalesce(part_start, -1));

-- Finds the members of a group: groups do not reach beyond an origin.
CREATE INDEX entry_by_group ON entry (host) WHERE groups IS NOT NULL;

-- Finds what answers a URL with another query.
CREATE INDEX entry_by_search ON entry (partition, search_base) WHERE search_base IS NOT NULL;

-- The views, version 3.
DROP VIEW cache_entries;
CREATE VIEW cache_entries AS
SELECT
    entry.partition                                                     AS partition,
    entry.key                                                           AS key,
    coalesce(entry.url, entry.key)                                      AS url,
    entry.host                                                          AS host,
    iif(entry.kind = 0, 'content', 'error')                             AS kind,
    entry.variant                                                       AS variant,
    entry.status                                                        AS status,
    entry.content_type                                                  AS content_type,
    entry.etag                                                          AS etag,
    entry.last_modified                                                 AS last_modified,
    entry.byte_count                                                    AS byte_size,
    iif(entry.body IS NULL, NULL, lower(hex(entry.body)))               AS sha256,
    iif(entry.body IS NULL, NULL,
        'blobs/' || substr(lower(hex(entry.body)), 1, 2) || '/' || substr(lower(hex(entry.body)), 3))
                                                                        AS file_path,
    CASE
        WHEN entry.expires_at IS NULL THEN 'stale'
        WHEN entry.expires_at > CAST(strftime('%s', 'now') AS INTEGER) * 1000 THEN 'fresh'
        ELSE 'stale'
    END                                                                 AS freshness,
    strftime('%Y-%m-%dT%H:%M:%fZ', entry.expires_at / 1000.0, 'unixepoch')  AS expires_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', entry.created_at / 1000.0, 'unixepoch')  AS created_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', entry.received_at / 1000.0, 'unixepoch') AS validated_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', access.accessed_at / 1000.0, 'unixepoch') AS accessed_at,
    access.hit_count                                                    AS hit_count,
    coalesce(failure.error_count, 0)                                    AS error_count,
    entry.id                                                            AS id,
    iif(entry.session IS NULL, 'permanent', 'session')                  AS lifetime,
    entry.is_pinned                                                     AS is_pinned,
    entry.tags                                                          AS tags,
    entry.part_start                                                    AS part_start,
    entry.part_total                                                    AS part_total,
    entry.groups                                                        AS groups
FROM entry
JOIN access ON access.entry_id = entry.id
LEFT JOIN failure ON failure.partition = entry.partition AND failure.key = entry.key
-- Those of an earlier session are gone; their rows may wait for their removal.
WHERE entry.session IS NULL OR entry.session = (SELECT session FROM state);

DROP VIEW cache_version;
CREATE VIEW cache_version AS SELECT 3 AS version;
