-- Lifetimes, pins and tags of entries; removals that a load under way must not undo; requests counted by host.
-- Constant time but for the indices, which are built once.

-- What the caller wants of an entry, beside what its response says.
ALTER TABLE entry ADD COLUMN session INTEGER;      -- the session that it ends with; NULL when it stays
ALTER TABLE entry ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0 CHECK (is_pinned IN (0, 1)); -- 1: never evicted
ALTER TABLE entry ADD COLUMN tags TEXT;            -- names to remove it by, a JSON array; NULL for none
ALTER TABLE entry ADD COLUMN key_checksum INTEGER; -- of partition and key: a damaged index must not lead to another row

-- Which entries eviction takes first.
ALTER TABLE access ADD COLUMN rank INTEGER NOT NULL DEFAULT 1; -- 0 those of a session, 1 the others, 2 never

ALTER TABLE total ADD COLUMN damaged_count INTEGER NOT NULL DEFAULT 0; -- bodies found missing or altered, and dropped

-- Finds the entries of sessions that are over.
CREATE INDEX entry_by_session ON entry (session) WHERE session IS NOT NULL;

-- Removal by host, and sums by host.
CREATE INDEX entry_by_host ON entry (host);

-- Eviction does not walk past what is pinned.
DROP INDEX entry_by_expiry;
CREATE INDEX entry_by_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL AND is_pinned = 0;
DROP INDEX entry_by_creation;
CREATE INDEX entry_by_creation ON entry (created_at) WHERE is_pinned = 0;
DROP INDEX access_by_time;
CREATE INDEX access_by_time ON access (rank, accessed_at) WHERE rank < 2;

-- The names in `entry.tags`, kept by the triggers below.
CREATE TABLE tag (
    name     TEXT    NOT NULL,                       -- one of the names
    entry_id INTEGER NOT NULL REFERENCES entry (id), -- the entry that has it
    PRIMARY KEY (name, entry_id)
) STRICT, WITHOUT ROWID;

-- Finds the names of an entry that goes.
CREATE INDEX tag_by_entry ON tag (entry_id);

-- Where the store as a whole stands: a single row.
CREATE TABLE state (
    id         INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), -- there is one row
    session    INTEGER NOT NULL, -- the present session; one ends when nobody has the store open any more
    generation INTEGER NOT NULL, -- removals so far
    user_count INTEGER NOT NULL  -- who has written and not closed: more than 0 with nobody there tells of a kill
) STRICT;

INSERT INTO state VALUES (1, 1, 0, 0);

-- The latest removals: what a load that began before one of them brings must not be stored.
CREATE TABLE removal (
    generation         INTEGER NOT NULL PRIMARY KEY, -- its number
    partition_checksum INTEGER, -- of the partition that was removed from; NULL for all
    key_checksum       INTEGER  -- of the partition and key that were removed; NULL for more than one key
) STRICT;

-- Requests by host, counted in memory and added with the uses of entries.
CREATE TABLE request (
    host              TEXT    NOT NULL PRIMARY KEY, -- as in `entry`
    hit_count         INTEGER NOT NULL, -- answered with a fresh entry
    stale_count       INTEGER NOT NULL, -- answered with a stale entry
    revalidated_count INTEGER NOT NULL, -- answered with an entry that the origin confirmed
    miss_count        INTEGER NOT NULL, -- answered by the origin
    error_count       INTEGER NOT NULL, -- not answered, or with an error
    counted_at        INTEGER NOT NULL  -- time of the latest
) STRICT, WITHOUT ROWID;

-- Oldest first, to forget the oldest when there are too many.
CREATE INDEX request_by_time ON request (counted_at);

DROP TRIGGER entry_inserted;
CREATE TRIGGER entry_inserted AFTER INSERT ON entry BEGIN
    INSERT INTO access (entry_id, accessed_at, hit_count, rank) VALUES (
        NEW.id, NEW.created_at, 0, CASE WHEN NEW.is_pinned THEN 2 WHEN NEW.session IS NULL THEN 1 ELSE 0 END
    );
    INSERT INTO blob SELECT NEW.body, NEW.byte_count, 1 WHERE NEW.body IS NOT NULL
        ON CONFLICT (digest) DO UPDATE SET reference_count = reference_count + 1;
    UPDATE total SET entry_count = entry_count + 1, logical_bytes = logical_bytes + NEW.byte_count;
END;

CREATE TRIGGER entry_tagged AFTER INSERT ON entry WHEN NEW.tags IS NOT NULL BEGIN
    INSERT OR IGNORE INTO tag SELECT value, NEW.id FROM json_each(NEW.tags);
END;

CREATE TRIGGER entry_untagged AFTER DELETE ON entry WHEN OLD.tags IS NOT NULL BEGIN
    DELETE FROM tag WHERE entry_id = OLD.id;
END;

CREATE TRIGGER entry_tags_changed AFTER UPDATE OF tags ON entry WHEN NEW.tags IS NOT OLD.tags BEGIN
    DELETE FROM tag WHERE entry_id = NEW.id;
    INSERT OR IGNORE INTO tag SELECT value, NEW.id FROM json_each(coalesce(NEW.tags, '[]'));
END;

CREATE TRIGGER entry_rank_changed AFTER UPDATE OF session, is_pinned ON entry
WHEN NEW.session IS NOT OLD.session OR NEW.is_pinned <> OLD.is_pinned BEGIN
    UPDATE access SET rank = CASE WHEN NEW.is_pinned THEN 2 WHEN NEW.session IS NULL THEN 1 ELSE 0 END
    WHERE entry_id = NEW.id;
END;

-- The views, version 2. A column keeps its name, place and meaning for ever; new ones come at the end.
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
    entry.tags                                                          AS tags
FROM entry
JOIN access ON access.entry_id = entry.id
LEFT JOIN failure ON failure.partition = entry.partition AND failure.key = entry.key
-- Those of an earlier session are gone; their rows may wait for their removal.
WHERE entry.session IS NULL OR entry.session = (SELECT session FROM state);

DROP VIEW cache_stats;
CREATE VIEW cache_stats AS
SELECT
    entry_count                         AS entries,
    blob_count                          AS files,
    logical_bytes                       AS logical_bytes,
    physical_bytes                      AS physical_bytes,
    unreferenced_bytes                  AS unreferenced_bytes,
    hit_count                           AS hits,
    failure_count                       AS failing_keys,
    damaged_count                       AS damaged_bodies
FROM total;

-- How requests were answered, one row per host.
CREATE VIEW cache_requests AS
SELECT
    host                                                                AS host,
    hit_count                                                           AS hits,
    stale_count                                                         AS stale,
    revalidated_count                                                   AS revalidated,
    miss_count                                                          AS misses,
    error_count                                                         AS errors,
    strftime('%Y-%m-%dT%H:%M:%fZ', counted_at / 1000.0, 'unixepoch')    AS counted_at
FROM request;

-- The version of the views.
CREATE VIEW cache_version AS SELECT 2 AS version;
