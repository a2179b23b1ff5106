-- Derived bodies: processed forms of the body of an entry, a thumbnail for one, which stand and fall with it.
-- Constant time.

-- One form. Found by entry and name in one step; the rows of an entry lie together, so that they go together.
CREATE TABLE derived (
    entry_id   INTEGER NOT NULL REFERENCES entry (id),       -- the entry from whose body it was made
    name       TEXT    NOT NULL CHECK (name <> ''),          -- what the caller calls it
    created_at INTEGER NOT NULL,                             -- when it was stored
    byte_count INTEGER NOT NULL CHECK (byte_count >= 0),     -- length of its bytes
    body       BLOB    REFERENCES blob (digest),             -- digest of its bytes; NULL when there are none
    PRIMARY KEY (entry_id, name)
) STRICT, WITHOUT ROWID;

-- Finds the forms of a damaged body.
CREATE INDEX derived_by_body ON derived (body) WHERE body IS NOT NULL;

ALTER TABLE total ADD COLUMN derived_count INTEGER NOT NULL DEFAULT 0; -- rows of derived; not among the entries
ALTER TABLE total ADD COLUMN derived_bytes INTEGER NOT NULL DEFAULT 0; -- their bytes, which are among the logical ones

CREATE TRIGGER derived_inserted AFTER INSERT ON derived BEGIN
    INSERT INTO blob SELECT NEW.body, NEW.byte_count, 1 WHERE NEW.body IS NOT NULL
        ON CONFLICT (digest) DO UPDATE SET reference_count = reference_count + 1;
    UPDATE total SET
        derived_count = derived_count + 1,
        derived_bytes = derived_bytes + NEW.byte_count,
        logical_bytes = logical_bytes + NEW.byte_count;
END;

CREATE TRIGGER derived_deleted AFTER DELETE ON derived BEGIN
    UPDATE blob SET reference_count = max(0, reference_count - 1) WHERE digest = OLD.body;
    UPDATE total SET
        derived_count = derived_count - 1,
        derived_bytes = derived_bytes - OLD.byte_count,
        logical_bytes = logical_bytes - OLD.byte_count;
END;

-- The new bytes first, as with entries.
CREATE TRIGGER derived_replaced AFTER UPDATE OF body ON derived BEGIN
    INSERT INTO blob SELECT NEW.body, NEW.byte_count, 1 WHERE NEW.body IS NOT NULL
        ON CONFLICT (digest) DO UPDATE SET reference_count = reference_count + 1;
    UPDATE blob SET reference_count = max(0, reference_count - 1) WHERE digest = OLD.body;
    UPDATE total SET
        derived_bytes = derived_bytes + NEW.byte_count - OLD.byte_count,
        logical_bytes = logical_bytes + NEW.byte_count - OLD.byte_count;
END;

-- However an entry goes, its forms go in the same statement.
CREATE TRIGGER derived_deleted_with_entry AFTER DELETE ON entry BEGIN
    DELETE FROM derived WHERE entry_id = OLD.id;
END;

-- What was made of other bytes is of no use. The same bytes, stored once more, keep it.
CREATE TRIGGER derived_outdated AFTER UPDATE OF body ON entry WHEN NEW.body IS NOT OLD.body BEGIN
    DELETE FROM derived WHERE entry_id = NEW.id;
END;

-- The views, version 4.
CREATE VIEW cache_derived AS
SELECT
    derived.entry_id                                                    AS entry_id,
    entry.partition                                                     AS partition,
    entry.key                                                           AS key,
    derived.name                                                        AS name,
    derived.byte_count                                                  AS byte_size,
    iif(derived.body IS NULL, NULL, lower(hex(derived.body)))           AS sha256,
    iif(derived.body IS NULL, NULL,
        'blobs/' || substr(lower(hex(derived.body)), 1, 2) || '/' || substr(lower(hex(derived.body)), 3))
                                                                        AS file_path,
    strftime('%Y-%m-%dT%H:%M:%fZ', derived.created_at / 1000.0, 'unixepoch') AS created_at
FROM derived
JOIN entry ON entry.id = derived.entry_id
-- As in cache_entries.
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
    damaged_count                       AS damaged_bodies,
    derived_count                       AS derived_bodies,
    derived_bytes                       AS derived_bytes
FROM total;

DROP VIEW cache_version;
CREATE VIEW cache_version AS SELECT 4 AS version;
