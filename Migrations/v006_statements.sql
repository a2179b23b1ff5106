-- Statements that need no copies. Within BEGIN and COMMIT SQLite copies each page that a statement changes, so that the
-- statement could be taken back alone, if it fires triggers and something in it may fail: a constraint that does not say OR
-- ROLLBACK, an upsert, a call of a function. The store takes no statement back alone: when one fails it rolls the transaction
-- back, and whoever else writes here must do the same. So triggers say OR ROLLBACK, and what stores and removes entries calls
-- no function.

DROP TRIGGER IF EXISTS entry_inserted;
DROP TRIGGER IF EXISTS entry_deleted;
DROP TRIGGER IF EXISTS entry_body_replaced;
DROP TRIGGER IF EXISTS entry_rank_changed;
DROP TRIGGER IF EXISTS entry_tagged;
DROP TRIGGER IF EXISTS entry_tags_changed;
DROP TRIGGER IF EXISTS derived_inserted;
DROP TRIGGER IF EXISTS derived_deleted;
DROP TRIGGER IF EXISTS derived_replaced;
DROP TRIGGER IF EXISTS blob_inserted;
DROP TRIGGER IF EXISTS blob_deleted;
DROP TRIGGER IF EXISTS blob_released;
DROP TRIGGER IF EXISTS failure_inserted;
DROP TRIGGER IF EXISTS failure_deleted;

-- Views that somebody has added are not looked into.
PRAGMA legacy_alter_table = ON;

-- One file below blobs/, named by the SHA-256 of its bytes. The length of the digest is checked by who reads it.
CREATE TABLE blob_6 (
    digest          BLOB    NOT NULL PRIMARY KEY,                 -- SHA-256 of the bytes; the file's name
    byte_count      INTEGER NOT NULL CHECK (byte_count > 0),      -- length of the file
    reference_count INTEGER NOT NULL CHECK (reference_count >= 0) -- entries and derived forms whose body this is
) STRICT, WITHOUT ROWID;
INSERT INTO blob_6 SELECT digest, byte_count, reference_count FROM blob WHERE byte_count > 0 AND reference_count >= 0;
DROP TABLE blob;
ALTER TABLE blob_6 RENAME TO blob;

-- Finds the files that no entry names any more, and costs nothing while there are none.
CREATE INDEX blob_unreferenced ON blob (digest) WHERE reference_count = 0;

-- As it was (see v005), but CASE instead of min and max.
DROP INDEX access_by_priority;
ALTER TABLE access DROP COLUMN priority;
PRAGMA legacy_alter_table = OFF;
ALTER TABLE access ADD COLUMN priority INTEGER GENERATED ALWAYS AS ( -- the order of eviction within a rank
    CASE
        WHEN age IS NULL THEN accessed_at
        ELSE CASE WHEN age < 0 THEN 0 WHEN age > 1 << 61 THEN 1 << 61 ELSE age END
            + (CASE WHEN hit_count < 0 THEN 1 WHEN hit_count >= 1 << 20 THEN 1 << 20 ELSE hit_count + 1 END << 40)
            / (CASE WHEN byte_count < 0 THEN 0 WHEN byte_count > 1 << 61 THEN 1 << 61 ELSE byte_count END + 1024)
    END
) VIRTUAL;
CREATE INDEX access_by_priority ON access (rank, priority) WHERE rank < 2;

CREATE TRIGGER entry_inserted AFTER INSERT ON entry BEGIN
    INSERT OR ROLLBACK INTO access (entry_id, accessed_at, hit_count, rank, byte_count, age) VALUES (
        NEW.id, NEW.created_at, 0, CASE WHEN NEW.is_pinned THEN 2 WHEN NEW.session IS NULL THEN 1 ELSE 0 END,
        NEW.byte_count, (SELECT CASE WHEN eviction_policy = 1 THEN eviction_age END FROM state, total)
    );
    UPDATE OR ROLLBACK blob SET reference_count = reference_count + 1 WHERE digest = NEW.body;
    INSERT OR ROLLBACK INTO blob SELECT NEW.body, NEW.byte_count, 1
        WHERE NEW.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = NEW.body);
    UPDATE OR ROLLBACK total SET entry_count = entry_count + 1, logical_bytes = logical_bytes + NEW.byte_count;
END;

-- Not below zero: a count that is wrong must not keep entries from being removed.
CREATE TRIGGER entry_deleted AFTER DELETE ON entry BEGIN
    DELETE FROM access WHERE entry_id = OLD.id;
    UPDATE OR ROLLBACK blob SET reference_count = reference_count - 1 WHERE digest = OLD.body AND reference_count > 0;
    UPDATE OR ROLLBACK total SET entry_count = entry_count - 1, logical_bytes = logical_bytes - OLD.byte_count;
END;

-- The new body first: when both are the same, the count never touches zero.
CREATE TRIGGER entry_body_replaced AFTER UPDATE OF body ON entry BEGIN
    UPDATE OR ROLLBACK blob SET reference_count = reference_count + 1 WHERE digest = NEW.body;
    INSERT OR ROLLBACK INTO blob SELECT NEW.body, NEW.byte_count, 1
        WHERE NEW.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = NEW.body);
    UPDATE OR ROLLBACK blob SET reference_count = reference_count - 1 WHERE digest = OLD.body AND reference_count > 0;
    UPDATE OR ROLLBACK access SET
        accessed_at = CASE WHEN accessed_at > NEW.created_at THEN accessed_at ELSE NEW.created_at END,
        byte_count = NEW.byte_count,
        age = (SELECT CASE WHEN eviction_policy = 1 THEN eviction_age END FROM state, total)
    WHERE entry_id = NEW.id;
    UPDATE OR ROLLBACK total SET logical_bytes = logical_bytes + NEW.byte_count - OLD.byte_count;
END;

CREATE TRIGGER entry_rank_changed AFTER UPDATE OF session, is_pinned ON entry
WHEN NEW.session IS NOT OLD.session OR NEW.is_pinned <> OLD.is_pinned BEGIN
    UPDATE OR ROLLBACK access SET rank = CASE WHEN NEW.is_pinned THEN 2 WHEN NEW.session IS NULL THEN 1 ELSE 0 END
    WHERE entry_id = NEW.id;
END;

-- What is left of another entry with this number goes first.
CREATE TRIGGER entry_tagged AFTER INSERT ON entry WHEN NEW.tags IS NOT NULL BEGIN
    DELETE FROM tag WHERE entry_id = NEW.id;
    INSERT OR ROLLBACK INTO tag SELECT DISTINCT CAST(value AS TEXT), NEW.id FROM json_each(NEW.tags) WHERE value IS NOT NULL;
END;

CREATE TRIGGER entry_tags_changed AFTER UPDATE OF tags ON entry WHEN NEW.tags IS NOT OLD.tags BEGIN
    DELETE FROM tag WHERE entry_id = NEW.id;
    INSERT OR ROLLBACK INTO tag
        SELECT DISTINCT CAST(value AS TEXT), NEW.id FROM json_each(CASE WHEN NEW.tags IS NULL THEN '[]' ELSE NEW.tags END)
        WHERE value IS NOT NULL;
END;

CREATE TRIGGER derived_inserted AFTER INSERT ON derived BEGIN
    UPDATE OR ROLLBACK blob SET reference_count = reference_count + 1 WHERE digest = NEW.body;
    INSERT OR ROLLBACK INTO blob SELECT NEW.body, NEW.byte_count, 1
        WHERE NEW.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = NEW.body);
    UPDATE OR ROLLBACK total SET
        derived_count = derived_count + 1,
        derived_bytes = derived_bytes + NEW.byte_count,
        logical_bytes = logical_bytes + NEW.byte_count;
END;

CREATE TRIGGER derived_deleted AFTER DELETE ON derived BEGIN
    UPDATE OR ROLLBACK blob SET reference_count = reference_count - 1 WHERE digest = OLD.body AND reference_count > 0;
    UPDATE OR ROLLBACK total SET
        derived_count = derived_count - 1,
        derived_bytes = derived_bytes - OLD.byte_count,
        logical_bytes = logical_bytes - OLD.byte_count;
END;

CREATE TRIGGER derived_replaced AFTER UPDATE OF body ON derived BEGIN
    UPDATE OR ROLLBACK blob SET reference_count = reference_count + 1 WHERE digest = NEW.body;
    INSERT OR ROLLBACK INTO blob SELECT NEW.body, NEW.byte_count, 1
        WHERE NEW.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = NEW.body);
    UPDATE OR ROLLBACK blob SET reference_count = reference_count - 1 WHERE digest = OLD.body AND reference_count > 0;
    UPDATE OR ROLLBACK total SET
        derived_bytes = derived_bytes + NEW.byte_count - OLD.byte_count,
        logical_bytes = logical_bytes + NEW.byte_count - OLD.byte_count;
END;

CREATE TRIGGER blob_inserted AFTER INSERT ON blob BEGIN
    UPDATE OR ROLLBACK total SET
        blob_count = blob_count + 1,
        physical_bytes = physical_bytes + NEW.byte_count,
        unreferenced_bytes = unreferenced_bytes + CASE WHEN NEW.reference_count = 0 THEN NEW.byte_count ELSE 0 END;
END;

CREATE TRIGGER blob_deleted AFTER DELETE ON blob BEGIN
    UPDATE OR ROLLBACK total SET
        blob_count = blob_count - 1,
        physical_bytes = physical_bytes - OLD.byte_count,
        unreferenced_bytes = unreferenced_bytes - CASE WHEN OLD.reference_count = 0 THEN OLD.byte_count ELSE 0 END;
END;

CREATE TRIGGER blob_released AFTER UPDATE OF reference_count ON blob
WHEN (OLD.reference_count = 0) <> (NEW.reference_count = 0) BEGIN
    UPDATE OR ROLLBACK total SET
        unreferenced_bytes = unreferenced_bytes + CASE WHEN NEW.reference_count = 0 THEN NEW.byte_count ELSE -NEW.byte_count END;
END;

CREATE TRIGGER failure_inserted AFTER INSERT ON failure BEGIN
    UPDATE OR ROLLBACK total SET failure_count = failure_count + 1;
END;

CREATE TRIGGER failure_deleted AFTER DELETE ON failure BEGIN
    UPDATE OR ROLLBACK total SET failure_count = failure_count - 1;
END;
