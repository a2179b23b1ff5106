-- Small bodies in the index instead of files, for a store that is opened with a limit for them. Reads `blob` once.

-- The bytes of a body that has no file. Apart from its row in `blob`, which is written with each entry that comes to need it.
CREATE TABLE inline_body (
    id         INTEGER NOT NULL PRIMARY KEY, -- what `blob` calls it
    digest     BLOB    NOT NULL,             -- SHA-256 of the bytes, so that a wrong number leads to nothing
    byte_count INTEGER NOT NULL,             -- length of the bytes
    bytes      BLOB    NOT NULL              -- the bytes themselves
) STRICT;

-- What somebody has edited past the constraints: newer versions of SQLite look at every row before they add a column.
DELETE FROM blob WHERE byte_count <= 0 OR reference_count < 0;

ALTER TABLE blob ADD COLUMN inline_id INTEGER; -- where in inline_body its bytes are; NULL when they are in a file
ALTER TABLE total ADD COLUMN inline_count INTEGER NOT NULL DEFAULT 0; -- rows of inline_body; they are rows of blob, too
ALTER TABLE total ADD COLUMN inline_bytes INTEGER NOT NULL DEFAULT 0; -- their bytes, which are among the physical ones

CREATE TRIGGER inline_body_inserted AFTER INSERT ON inline_body BEGIN
    UPDATE OR ROLLBACK total SET inline_count = inline_count + 1, inline_bytes = inline_bytes + NEW.byte_count;
END;

CREATE TRIGGER inline_body_deleted AFTER DELETE ON inline_body BEGIN
    UPDATE OR ROLLBACK total SET inline_count = inline_count - 1, inline_bytes = inline_bytes - OLD.byte_count;
END;

-- At once: what has no file waits for no deletion.
CREATE TRIGGER blob_inline_released AFTER UPDATE OF reference_count ON blob
WHEN NEW.reference_count = 0 AND NEW.inline_id IS NOT NULL BEGIN
    DELETE FROM blob WHERE digest = NEW.digest;
END;

CREATE TRIGGER blob_inline_deleted AFTER DELETE ON blob WHEN OLD.inline_id IS NOT NULL BEGIN
    DELETE FROM inline_body WHERE id = OLD.inline_id AND digest = OLD.digest;
END;

-- As they were (see v006), but by name: `blob` has a column more.
DROP TRIGGER IF EXISTS entry_inserted;
CREATE TRIGGER entry_inserted AFTER INSERT ON entry BEGIN
    INSERT OR ROLLBACK INTO access (entry_id, accessed_at, hit_count, rank, byte_count, age) VALUES (
        NEW.id, NEW.created_at, 0, CASE WHEN NEW.is_pinned THEN 2 WHEN NEW.session IS NULL THEN 1 ELSE 0 END,
        NEW.byte_count, (SELECT CASE WHEN eviction_policy = 1 THEN eviction_age END FROM state, total)
    );
    UPDATE OR ROLLBACK blob SET reference_count = reference_count + 1 WHERE digest = NEW.body;
    INSERT OR ROLLBACK INTO blob (digest, byte_count, reference_count) SELECT NEW.body, NEW.byte_count, 1
        WHERE NEW.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = NEW.body);
    UPDATE OR ROLLBACK total SET entry_count = entry_count + 1, logical_bytes = logical_bytes + NEW.byte_count;
END;

-- The new body first: when both are the same, the count never touches zero. So it is when the new one is a form that was made of
-- the old one, and goes: what was made of other bytes is of no use. The same bytes, stored once more, keep it.
DROP TRIGGER IF EXISTS derived_outdated;
DROP TRIGGER IF EXISTS entry_body_replaced;
CREATE TRIGGER entry_body_replaced AFTER UPDATE OF body ON entry BEGIN
    UPDATE OR ROLLBACK blob SET reference_count = reference_count + 1 WHERE digest = NEW.body;
    INSERT OR ROLLBACK INTO blob (digest, byte_count, reference_count) SELECT NEW.body, NEW.byte_count, 1
        WHERE NEW.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = NEW.body);
    UPDATE OR ROLLBACK blob SET reference_count = reference_count - 1 WHERE digest = OLD.body AND reference_count > 0;
    UPDATE OR ROLLBACK access SET
        accessed_at = CASE WHEN accessed_at > NEW.created_at THEN accessed_at ELSE NEW.created_at END,
        byte_count = NEW.byte_count,
        age = (SELECT CASE WHEN eviction_policy = 1 THEN eviction_age END FROM state, total)
    WHERE entry_id = NEW.id;
    UPDATE OR ROLLBACK total SET logical_bytes = logical_bytes + NEW.byte_count - OLD.byte_count;
    DELETE FROM derived WHERE entry_id = NEW.id AND NEW.body IS NOT OLD.body;
END;

DROP TRIGGER IF EXISTS derived_inserted;
CREATE TRIGGER derived_inserted AFTER INSERT ON derived BEGIN
    UPDATE OR ROLLBACK blob SET reference_count = reference_count + 1 WHERE digest = NEW.body;
    INSERT OR ROLLBACK INTO blob (digest, byte_count, reference_count) SELECT NEW.body, NEW.byte_count, 1
        WHERE NEW.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = NEW.body);
    UPDATE OR ROLLBACK total SET
        derived_count = derived_count + 1,
        derived_bytes = derived_bytes + NEW.byte_count,
        logical_bytes = logical_bytes + NEW.byte_count;
END;

DROP TRIGGER IF EXISTS derived_replaced;
CREATE TRIGGER derived_replaced AFTER UPDATE OF body ON derived BEGIN
    UPDATE OR ROLLBACK blob SET reference_count = reference_count + 1 WHERE digest = NEW.body;
    INSERT OR ROLLBACK INTO blob (digest, byte_count, reference_count) SELECT NEW.body, NEW.byte_count, 1
        WHERE NEW.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = NEW.body);
    UPDATE OR ROLLBACK blob SET reference_count = reference_count - 1 WHERE digest = OLD.body AND reference_count > 0;
    UPDATE OR ROLLBACK total SET
        derived_bytes = derived_bytes + NEW.byte_count - OLD.byte_count,
        logical_bytes = logical_bytes + NEW.byte_count - OLD.byte_count;
END;

-- The views, version 6: what is in the index has no file.
DROP VIEW IF EXISTS cache_entries;
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
    iif(entry.body IS NULL OR (SELECT inline_id FROM blob WHERE digest = entry.body) IS NOT NULL, NULL,
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

DROP VIEW IF EXISTS cache_derived;
CREATE VIEW cache_derived AS
SELECT
    derived.entry_id                                                    AS entry_id,
    entry.partition                                                     AS partition,
    entry.key                                                           AS key,
    derived.name                                                        AS name,
    derived.byte_count                                                  AS byte_size,
    iif(derived.body IS NULL, NULL, lower(hex(derived.body)))           AS sha256,
    iif(derived.body IS NULL OR (SELECT inline_id FROM blob WHERE digest = derived.body) IS NOT NULL, NULL,
        'blobs/' || substr(lower(hex(derived.body)), 1, 2) || '/' || substr(lower(hex(derived.body)), 3))
                                                                        AS file_path,
    strftime('%Y-%m-%dT%H:%M:%fZ', derived.created_at / 1000.0, 'unixepoch') AS created_at
FROM derived
JOIN entry ON entry.id = derived.entry_id
-- As in cache_entries.
WHERE entry.session IS NULL OR entry.session = (SELECT session FROM state);

DROP VIEW IF EXISTS cache_stats;
CREATE VIEW cache_stats AS
SELECT
    entry_count                         AS entries,
    blob_count - inline_count           AS files,
    logical_bytes                       AS logical_bytes,
    physical_bytes                      AS physical_bytes,
    unreferenced_bytes                  AS unreferenced_bytes,
    hit_count                           AS hits,
    failure_count                       AS failing_keys,
    damaged_count                       AS damaged_bodies,
    derived_count                       AS derived_bodies,
    derived_bytes                       AS derived_bytes,
    (SELECT iif(eviction_policy = 1, 'value-aware', 'least-recently-used') FROM state) AS eviction_policy,
    inline_count                        AS inline_bodies,
    inline_bytes                        AS inline_bytes
FROM total;

DROP VIEW IF EXISTS cache_version;
CREATE VIEW cache_version AS SELECT 6 AS version;
