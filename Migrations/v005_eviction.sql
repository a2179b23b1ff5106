-- The order of eviction: by last use, or by what an entry is worth (GDSF). One column, one index for either.
-- The sizes of bodies are copied to `access`, and the index of the order is built once.

-- Which order it is, and how far a change of it has come.
ALTER TABLE state ADD COLUMN eviction_policy INTEGER NOT NULL DEFAULT 0 CHECK (eviction_policy IN (0, 1)); -- 0 least recently used, 1 value-aware
ALTER TABLE state ADD COLUMN reordered_id INTEGER; -- entries up to this one have gone over to it; NULL when all have

-- Here and not in `state`: an eviction writes this row anyway.
ALTER TABLE total ADD COLUMN eviction_age INTEGER NOT NULL DEFAULT 0; -- the highest priority evicted by value so far; never falls

ALTER TABLE access ADD COLUMN byte_count INTEGER NOT NULL DEFAULT 0; -- length of the body, as in `entry`
ALTER TABLE access ADD COLUMN age INTEGER; -- total.eviction_age at the last use; NULL when only the time of it matters

-- Greedy-Dual-Size-Frequency (Cherkasova 1998): age + frequency / size, the lowest goes first. Storing counts as the first
-- use, and an entry takes 1 KiB beside its body. In units of 2^-40, cut so that no row can make it overflow: at most
-- 2^61 + 2^20 * 2^40 / 2^10. Generated, so that it is right whoever writes the row.
ALTER TABLE access ADD COLUMN priority INTEGER GENERATED ALWAYS AS ( -- the order of eviction within a rank
    CASE
        WHEN age IS NULL THEN accessed_at
        ELSE min(max(age, 0), 1 << 61)
            + ((min(max(hit_count, 0), (1 << 20) - 1) + 1) << 40) / (min(max(byte_count, 0), 1 << 61) + 1024)
    END
) VIRTUAL;

UPDATE access SET byte_count = coalesce((SELECT byte_count FROM entry WHERE id = entry_id), 0);

-- The order of eviction; the rowid makes it cover the walk. Under the default policy it is the order of use as well.
DROP INDEX access_by_time;
CREATE INDEX access_by_priority ON access (rank, priority) WHERE rank < 2;

DROP TRIGGER entry_inserted;
CREATE TRIGGER entry_inserted AFTER INSERT ON entry BEGIN
    INSERT INTO access (entry_id, accessed_at, hit_count, rank, byte_count, age) VALUES (
        NEW.id, NEW.created_at, 0, CASE WHEN NEW.is_pinned THEN 2 WHEN NEW.session IS NULL THEN 1 ELSE 0 END,
        NEW.byte_count, (SELECT iif(eviction_policy = 1, eviction_age, NULL) FROM state, total)
    );
    INSERT INTO blob SELECT NEW.body, NEW.byte_count, 1 WHERE NEW.body IS NOT NULL
        ON CONFLICT (digest) DO UPDATE SET reference_count = reference_count + 1;
    UPDATE total SET entry_count = entry_count + 1, logical_bytes = logical_bytes + NEW.byte_count;
END;

-- The new body first: when both are the same, the count never touches zero.
DROP TRIGGER entry_body_replaced;
CREATE TRIGGER entry_body_replaced AFTER UPDATE OF body ON entry BEGIN
    INSERT INTO blob SELECT NEW.body, NEW.byte_count, 1 WHERE NEW.body IS NOT NULL
        ON CONFLICT (digest) DO UPDATE SET reference_count = reference_count + 1;
    UPDATE blob SET reference_count = max(0, reference_count - 1) WHERE digest = OLD.body;
    UPDATE access SET
        accessed_at = max(accessed_at, NEW.created_at), byte_count = NEW.byte_count,
        age = (SELECT iif(eviction_policy = 1, eviction_age, NULL) FROM state, total)
    WHERE entry_id = NEW.id;
    UPDATE total SET logical_bytes = logical_bytes + NEW.byte_count - OLD.byte_count;
END;

-- The views, version 5.
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
    derived_bytes                       AS derived_bytes,
    (SELECT iif(eviction_policy = 1, 'value-aware', 'least-recently-used') FROM state) AS eviction_policy
FROM total;

DROP VIEW cache_version;
CREATE VIEW cache_version AS SELECT 5 AS version;
