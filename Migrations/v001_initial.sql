-- The schema of the index. A released file never changes: a change of the schema is a new file.
--
-- Times are milliseconds since 1970-01-01T00:00:00Z, except `id` and `recency`, which are logical. Sizes are bytes. The
-- tables may change from version to version. Programs and people query the views at the end.
--
-- No statement is rolled back alone: the store rolls back whole transactions only, and every other writer must do the
-- same. Inside BEGIN and COMMIT, SQLite copies each page that a statement changes, if the statement fires triggers and
-- may fail by itself. A constraint without OR ROLLBACK, an upsert, or a function call may fail. Hence OR ROLLBACK in
-- every trigger, and CASE instead of min() and max().

-- A file below blobs/, named by the SHA-256 of its bytes. The row is deleted with the last entry or derived
-- representation that has the body. The file is deleted after that commit.
CREATE TABLE blob (
    digest          BLOB    NOT NULL PRIMARY KEY,                 -- SHA-256 of the bytes, and the name of the file
    byte_count      INTEGER NOT NULL CHECK (byte_count > 0),      -- length of the file
    reference_count INTEGER NOT NULL CHECK (reference_count >= 0) -- entries and derived representations with this body
) STRICT, WITHOUT ROWID;

-- A stored response. The id is a logical clock: a stored or replaced entry gets the next id, and no id is used twice.
CREATE TABLE entry (
    id              INTEGER NOT NULL PRIMARY KEY,       -- when the body was stored, in the order of eviction
    partition       TEXT    NOT NULL,                   -- user, tenant or site that the entry belongs to; '' for none
    key             TEXT    NOT NULL,                   -- normalised URL, or 'name=' and a name chosen by the caller
    kind            INTEGER NOT NULL CHECK (kind IN (0, 1)), -- 0 content, 1 error response: one never displaces the other
    variant         TEXT    NOT NULL,                   -- request fields nominated by Vary, a line each; '' for none
    url             TEXT,                               -- source of the body; NULL when the key says it
    host            TEXT    NOT NULL,                   -- host of the URL, lower case; '' without a URL
    status          INTEGER NOT NULL,                   -- HTTP status code
    etag            TEXT,                               -- ETag, verbatim
    last_modified   TEXT,                               -- Last-Modified, verbatim
    content_type    TEXT,                               -- Content-Type, verbatim
    requested_at    INTEGER NOT NULL,                   -- when the request was sent that stored or last validated the response
    received_at     INTEGER NOT NULL,                   -- when its response arrived
    expires_at      INTEGER,                            -- end of the freshness lifetime; NULL for none
    created_at      INTEGER NOT NULL,                   -- when this body was stored; a validation leaves it alone
    is_body_decoded INTEGER NOT NULL CHECK (is_body_decoded IN (0, 1)), -- 1: a content coding was removed on arrival
    byte_count      INTEGER NOT NULL CHECK (byte_count >= 0), -- length of the body
    body            BLOB    REFERENCES blob (digest),   -- digest of the body; NULL for an empty body
    head            TEXT    NOT NULL,                   -- response field lines as received, 'Name: value', LF after each
    session         INTEGER,                            -- the session that the entry ends with; NULL for a permanent entry
    is_pinned       INTEGER NOT NULL CHECK (is_pinned IN (0, 1)), -- 1: never evicted
    tags            TEXT,                               -- names to remove the entry by, a JSON array; NULL for none
    key_checksum    INTEGER NOT NULL,                   -- of partition and key: a damaged index must not lead to another row
    part_start      INTEGER,                            -- position of the first byte of a part; NULL for a whole body
    part_total      INTEGER,                            -- length of the whole that the part belongs to; NULL if unknown
    groups          TEXT,                               -- Cache-Groups (RFC 9875), a JSON array; NULL for none
    search_base     TEXT                                -- URL without its query, if No-Vary-Search lets other queries match
) STRICT;

-- Serves every lookup, keeps entries distinct, and lists the keys with a prefix. A key can have several parts and a
-- whole body.
CREATE UNIQUE INDEX entry_by_key ON entry (partition, key, kind, variant, coalesce(part_start, -1));

-- The following indices cost nothing for entries without a session, groups or No-Vary-Search.

-- Finds the entries of ended sessions.
CREATE INDEX entry_by_session ON entry (session) WHERE session IS NOT NULL;

-- Finds the members of a group. RFC 9875 §2.1: a group belongs to one origin.
CREATE INDEX entry_by_group ON entry (host) WHERE groups IS NOT NULL;

-- Finds responses that may answer a URL with another query.
CREATE INDEX entry_by_search ON entry (partition, search_base) WHERE search_base IS NOT NULL;

-- The last access of an entry, and the number of accesses. An entry without an access has no row unless it is pinned;
-- its id gives its recency.
CREATE TABLE access (
    entry_id    INTEGER NOT NULL PRIMARY KEY REFERENCES entry (id), -- the entry
    recency     INTEGER NOT NULL, -- last use: the newest id at that time * 2^24, plus the number of uses since that id was given
    accessed_at INTEGER NOT NULL, -- time of the last use, for people and for rules by age
    hit_count   INTEGER NOT NULL, -- answers given from the entry
    is_pinned   INTEGER NOT NULL  -- as in `entry`
) STRICT;

-- Orders accessed entries for eviction, which merges them with the ids of the other entries. Neither contains pinned
-- entries.
CREATE INDEX access_by_recency ON access (recency) WHERE is_pinned = 0;

-- The order of eviction under the value-aware policy (Greedy-Dual-Size-Frequency, Cherkasova 1998). No other policy uses this
-- table. Pinned entries have no row.
CREATE TABLE priority (
    entry_id INTEGER NOT NULL PRIMARY KEY REFERENCES entry (id), -- the entry
    priority INTEGER NOT NULL -- its value in `entry_value` when it was stored or last used; the lowest goes first
) STRICT;

-- Finds the lowest priority first.
CREATE INDEX priority_by_priority ON priority (priority);

-- The ghost entries: access counts of evicted entries, which a later entry with the same key inherits. They exist only
-- under the value-aware policy, and only for entries that were accessed. Evictions leave at most as many rows as in
-- `entry`.
CREATE TABLE ghost (
    key_checksum INTEGER NOT NULL PRIMARY KEY, -- as in `entry`
    hit_count    INTEGER NOT NULL              -- answers given from evicted entries with this key
) STRICT;

-- The tags of entries. The triggers below maintain them.
CREATE TABLE tag (
    name     TEXT    NOT NULL,                       -- a tag
    entry_id INTEGER NOT NULL REFERENCES entry (id), -- an entry that has it
    PRIMARY KEY (name, entry_id)
) STRICT, WITHOUT ROWID;

-- Finds the tags of a removed entry.
CREATE INDEX tag_by_entry ON tag (entry_id);

-- A derived representation of the body of an entry, such as a thumbnail. It is removed with the entry, or when another
-- body replaces that body.
CREATE TABLE derived (
    entry_id   INTEGER NOT NULL REFERENCES entry (id),   -- the entry with the original
    name       TEXT    NOT NULL CHECK (name <> ''),      -- chosen by the caller
    created_at INTEGER NOT NULL,                         -- when the representation was stored
    byte_count INTEGER NOT NULL CHECK (byte_count >= 0), -- length of its bytes
    body       BLOB    REFERENCES blob (digest),         -- digest of its bytes; NULL for none
    PRIMARY KEY (entry_id, name)
) STRICT, WITHOUT ROWID;

-- Consecutive failures of equal requests for a key since their last success.
CREATE TABLE failure (
    partition   TEXT    NOT NULL, -- as in `entry`
    key         TEXT    NOT NULL, -- as in `entry`
    request     TEXT    NOT NULL, -- distinguishes requests for the key, without credentials in clear; '' for a plain GET
    status      INTEGER NOT NULL, -- HTTP status of the latest failure
    error_count INTEGER NOT NULL, -- failures since the last success
    failed_at   INTEGER NOT NULL, -- time of the latest failure
    PRIMARY KEY (partition, key, request)
) STRICT, WITHOUT ROWID;

-- Finds the oldest first. Beyond 10,000 rows, the store deletes the oldest.
CREATE INDEX failure_by_time ON failure (failed_at);

-- Requests by host. The store counts them in memory and writes them with the accesses of entries.
CREATE TABLE request (
    host              TEXT    NOT NULL PRIMARY KEY, -- as in `entry`
    hit_count         INTEGER NOT NULL, -- answered with a fresh response
    stale_count       INTEGER NOT NULL, -- answered with a stale response
    revalidated_count INTEGER NOT NULL, -- answered with a response that the origin validated
    tier_count        INTEGER NOT NULL, -- answered by a shared tier
    miss_count        INTEGER NOT NULL, -- answered by the origin
    error_count       INTEGER NOT NULL, -- not answered, or with an error
    counted_at        INTEGER NOT NULL  -- time of the latest request
) STRICT, WITHOUT ROWID;

-- Finds the oldest first. Beyond 10,000 hosts, the store deletes the oldest.
CREATE INDEX request_by_time ON request (counted_at);

-- The latest removals. A load that began before a removal must not store its response.
CREATE TABLE removal (
    generation         INTEGER NOT NULL PRIMARY KEY, -- number of the removal
    partition_checksum INTEGER, -- of the partition that was removed from; NULL for all
    key_checksum       INTEGER  -- of the removed partition and key; NULL for more than one key
) STRICT;

-- Sums over the entries of each partition except ''.
CREATE TABLE partition_total (
    partition   TEXT    NOT NULL PRIMARY KEY, -- as in `entry`
    entry_count INTEGER NOT NULL,             -- its entries
    byte_count  INTEGER NOT NULL              -- bytes of their bodies as if nothing were shared
) STRICT, WITHOUT ROWID;

-- The state of the store: a single row, rarely written.
CREATE TABLE state (
    id              INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), -- there is one row
    session         INTEGER NOT NULL, -- the present session; it ends when the last process closes the store
    generation      INTEGER NOT NULL, -- number of the latest removal
    writer_count    INTEGER NOT NULL, -- processes that have written and not closed: more than 0 in a closed store means a kill
    eviction_policy INTEGER NOT NULL CHECK (eviction_policy IN (0, 1)), -- 0 least recently used, 1 value-aware
    reordered_id    INTEGER -- entries up to this one follow a newly chosen policy; NULL when all do
) STRICT;

-- A random start, so that a generation of an earlier index at this path is not a generation of this index.
INSERT INTO state VALUES (1, 1, abs(random() >> 5), 0, 0, NULL);

-- Sums over the tables above, and the state of eviction: a single row, which every put writes. The triggers update the
-- sums in the transaction of the change.
CREATE TABLE total (
    id             INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), -- there is one row
    entry_count    INTEGER NOT NULL, -- rows of entry
    logical_bytes  INTEGER NOT NULL, -- bodies and derived representations as if nothing were shared
    blob_count     INTEGER NOT NULL, -- rows of blob
    physical_bytes INTEGER NOT NULL, -- bytes of all blobs
    failure_count  INTEGER NOT NULL, -- rows of failure
    failing_count  INTEGER NOT NULL, -- keys in failure
    hit_count      INTEGER NOT NULL, -- answers given from entries, including removed ones
    damaged_count  INTEGER NOT NULL, -- bodies that were missing or altered, and removed
    derived_count  INTEGER NOT NULL, -- rows of derived
    derived_bytes  INTEGER NOT NULL, -- their bytes, which are part of logical_bytes
    last_id        INTEGER NOT NULL, -- the newest id of an entry
    unused_id      INTEGER NOT NULL, -- every entry with a smaller id has an access row: the walk along unused entries begins here
    eviction_age   INTEGER NOT NULL, -- the highest priority that was evicted; never falls
    ghost_count    INTEGER NOT NULL, -- rows of ghost
    ghost_position INTEGER NOT NULL  -- the key_checksum at which the latest deletion of ghost entries ended
) STRICT;

INSERT INTO total VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

-- The present value of an entry under the value-aware policy: eviction_age + accesses / size, in units of 2^-40. The
-- size is at least 1 KiB and at most 50 mean sizes: every larger body counts as large. The bounds prevent an overflow
-- of damaged numbers.
CREATE VIEW entry_value AS
SELECT
    entry_id,
    CASE WHEN eviction_age < 0 THEN 0 WHEN eviction_age > 1 << 61 THEN 1 << 61 ELSE eviction_age END
        + (
            1
            + CASE WHEN hit_count < 0 THEN 0 WHEN hit_count > 1 << 20 THEN 1 << 20 ELSE hit_count END
            + CASE WHEN past_hit_count < 0 THEN 0 WHEN past_hit_count > 1 << 20 THEN 1 << 20 ELSE past_hit_count END
            << 40
        )
        / (
            1024 + CASE
                WHEN byte_count < 0 THEN 0
                WHEN byte_count > 50 * mean_byte_count THEN 50 * mean_byte_count
                ELSE byte_count
            END
        )
        AS value
FROM (
    SELECT
        entry.id AS entry_id,
        byte_count,
        coalesce(access.hit_count, 0) AS hit_count,
        coalesce(ghost.hit_count, 0) AS past_hit_count,
        eviction_age,
        1024 + CASE
            WHEN entry_count > 0 AND derived_bytes >= 0 AND logical_bytes BETWEEN derived_bytes AND 1 << 55
                THEN (logical_bytes - derived_bytes) / entry_count
            ELSE 1 << 55
        END AS mean_byte_count
    FROM entry CROSS JOIN total
    LEFT JOIN access ON access.entry_id = entry.id
    LEFT JOIN ghost ON ghost.key_checksum = entry.key_checksum
);

CREATE TRIGGER entry_inserted AFTER INSERT ON entry BEGIN
    UPDATE OR ROLLBACK blob SET reference_count = reference_count + 1 WHERE digest = NEW.body;
    INSERT OR ROLLBACK INTO blob (digest, byte_count, reference_count) SELECT NEW.body, NEW.byte_count, 1
        WHERE NEW.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = NEW.body);
    UPDATE OR ROLLBACK total SET
        entry_count = entry_count + 1,
        logical_bytes = logical_bytes + NEW.byte_count,
        last_id = CASE WHEN NEW.id > last_id OR last_id > 1 << 38 THEN NEW.id ELSE last_id END;
END;

CREATE TRIGGER entry_deleted AFTER DELETE ON entry BEGIN
    DELETE FROM access WHERE entry_id = OLD.id;
    DELETE FROM priority WHERE entry_id = OLD.id;
    DELETE FROM blob WHERE digest = OLD.body AND reference_count <= 1;
    UPDATE OR ROLLBACK blob SET reference_count = reference_count - 1 WHERE digest = OLD.body;
    UPDATE OR ROLLBACK total SET entry_count = entry_count - 1, logical_bytes = logical_bytes - OLD.byte_count;
END;

-- Few entries have derived representations. SQLite opens a temporary table to change them, which took a quarter of the
-- instructions of a removal. Hence the two triggers that fire only for such entries.
CREATE TRIGGER entry_deleted_derived AFTER DELETE ON entry WHEN EXISTS (SELECT 1 FROM derived WHERE entry_id = OLD.id) BEGIN
    DELETE FROM derived WHERE entry_id = OLD.id;
END;

-- A replacement sets a body and a new id. The trigger counts the new body first, so the count of an unchanged body never reaches
-- zero. Derived representations stay if the body is the same. The number of uses stays.
CREATE TRIGGER entry_replaced AFTER UPDATE OF body ON entry BEGIN
    UPDATE OR ROLLBACK blob SET reference_count = reference_count + 1 WHERE digest = NEW.body;
    INSERT OR ROLLBACK INTO blob (digest, byte_count, reference_count) SELECT NEW.body, NEW.byte_count, 1
        WHERE NEW.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = NEW.body);
    DELETE FROM blob WHERE digest = OLD.body AND reference_count <= 1;
    UPDATE OR ROLLBACK blob SET reference_count = reference_count - 1 WHERE digest = OLD.body;
    UPDATE OR ROLLBACK access SET
        entry_id = NEW.id, recency = NEW.id << 24,
        accessed_at = CASE WHEN accessed_at > NEW.created_at THEN accessed_at ELSE NEW.created_at END
    WHERE entry_id = OLD.id;
    UPDATE OR ROLLBACK priority SET entry_id = NEW.id WHERE entry_id = OLD.id;
    UPDATE OR ROLLBACK priority SET priority = (SELECT value FROM entry_value WHERE entry_value.entry_id = NEW.id)
        WHERE entry_id = NEW.id;
    UPDATE OR ROLLBACK total SET
        logical_bytes = logical_bytes + NEW.byte_count - OLD.byte_count,
        last_id = CASE WHEN NEW.id > last_id OR last_id > 1 << 38 THEN NEW.id ELSE last_id END;
END;

CREATE TRIGGER entry_replaced_derived AFTER UPDATE OF body ON entry WHEN EXISTS (SELECT 1 FROM derived WHERE entry_id = OLD.id)
BEGIN
    DELETE FROM derived WHERE entry_id = OLD.id AND NEW.body IS NOT OLD.body;
    UPDATE OR ROLLBACK derived SET entry_id = NEW.id WHERE entry_id = OLD.id;
END;

-- A pinned entry has an access row, so the walk along unused entries skips it.
CREATE TRIGGER entry_inserted_pinned AFTER INSERT ON entry WHEN NEW.is_pinned = 1 BEGIN
    INSERT OR ROLLBACK INTO access VALUES (NEW.id, NEW.id << 24, NEW.created_at, 0, 1);
END;

CREATE TRIGGER entry_pin_changed AFTER UPDATE OF is_pinned ON entry WHEN NEW.is_pinned <> OLD.is_pinned BEGIN
    UPDATE OR ROLLBACK access SET is_pinned = NEW.is_pinned WHERE entry_id IN (OLD.id, NEW.id);
    INSERT OR ROLLBACK INTO access SELECT NEW.id, NEW.id << 24, NEW.created_at, 0, 1
        WHERE NEW.is_pinned = 1 AND NOT EXISTS (SELECT 1 FROM access WHERE entry_id IN (OLD.id, NEW.id));
    DELETE FROM priority WHERE entry_id IN (OLD.id, NEW.id) AND NEW.is_pinned = 1;
    INSERT OR ROLLBACK INTO priority SELECT entry_id, value FROM entry_value
        WHERE entry_id = NEW.id AND NEW.is_pinned = 0 AND (SELECT eviction_policy FROM state) = 1;
END;

CREATE TRIGGER entry_inserted_by_value AFTER INSERT ON entry
WHEN NEW.is_pinned = 0 AND (SELECT eviction_policy FROM state) = 1 BEGIN
    INSERT OR ROLLBACK INTO priority SELECT entry_id, value FROM entry_value WHERE entry_id = NEW.id;
END;

CREATE TRIGGER entry_inserted_partition AFTER INSERT ON entry WHEN NEW.partition <> '' BEGIN
    INSERT OR ROLLBACK INTO partition_total SELECT NEW.partition, 0, 0
        WHERE NOT EXISTS (SELECT 1 FROM partition_total WHERE partition = NEW.partition);
    UPDATE OR ROLLBACK partition_total SET entry_count = entry_count + 1, byte_count = byte_count + NEW.byte_count
        WHERE partition = NEW.partition;
END;

CREATE TRIGGER entry_deleted_partition AFTER DELETE ON entry WHEN OLD.partition <> '' BEGIN
    UPDATE OR ROLLBACK partition_total SET entry_count = entry_count - 1, byte_count = byte_count - OLD.byte_count
        WHERE partition = OLD.partition;
    DELETE FROM partition_total WHERE partition = OLD.partition AND entry_count <= 0;
END;

CREATE TRIGGER entry_replaced_partition AFTER UPDATE OF byte_count ON entry WHEN NEW.partition <> '' BEGIN
    UPDATE OR ROLLBACK partition_total SET byte_count = byte_count + NEW.byte_count - OLD.byte_count
        WHERE partition = NEW.partition;
END;

CREATE TRIGGER entry_tagged AFTER INSERT ON entry WHEN NEW.tags IS NOT NULL BEGIN
    INSERT OR ROLLBACK INTO tag SELECT DISTINCT CAST(value AS TEXT), NEW.id FROM json_each(NEW.tags) WHERE value IS NOT NULL;
END;

CREATE TRIGGER entry_untagged AFTER DELETE ON entry WHEN OLD.tags IS NOT NULL BEGIN
    DELETE FROM tag WHERE entry_id = OLD.id;
END;

CREATE TRIGGER entry_tags_changed AFTER UPDATE OF id, tags ON entry
WHEN (NEW.tags IS NOT NULL OR OLD.tags IS NOT NULL) AND (NEW.tags IS NOT OLD.tags OR NEW.id <> OLD.id) BEGIN
    DELETE FROM tag WHERE entry_id = OLD.id;
    INSERT OR ROLLBACK INTO tag
        SELECT DISTINCT CAST(value AS TEXT), NEW.id FROM json_each(CASE WHEN NEW.tags IS NULL THEN '[]' ELSE NEW.tags END)
        WHERE value IS NOT NULL;
END;

CREATE TRIGGER derived_inserted AFTER INSERT ON derived BEGIN
    UPDATE OR ROLLBACK blob SET reference_count = reference_count + 1 WHERE digest = NEW.body;
    INSERT OR ROLLBACK INTO blob (digest, byte_count, reference_count) SELECT NEW.body, NEW.byte_count, 1
        WHERE NEW.body IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = NEW.body);
    UPDATE OR ROLLBACK total SET
        derived_count = derived_count + 1,
        derived_bytes = derived_bytes + NEW.byte_count,
        logical_bytes = logical_bytes + NEW.byte_count;
END;

CREATE TRIGGER derived_deleted AFTER DELETE ON derived BEGIN
    DELETE FROM blob WHERE digest = OLD.body AND reference_count <= 1;
    UPDATE OR ROLLBACK blob SET reference_count = reference_count - 1 WHERE digest = OLD.body;
    UPDATE OR ROLLBACK total SET
        derived_count = derived_count - 1,
        derived_bytes = derived_bytes - OLD.byte_count,
        logical_bytes = logical_bytes - OLD.byte_count;
END;

CREATE TRIGGER blob_inserted AFTER INSERT ON blob BEGIN
    UPDATE OR ROLLBACK total SET blob_count = blob_count + 1, physical_bytes = physical_bytes + NEW.byte_count;
END;

CREATE TRIGGER blob_deleted AFTER DELETE ON blob BEGIN
    UPDATE OR ROLLBACK total SET blob_count = blob_count - 1, physical_bytes = physical_bytes - OLD.byte_count;
END;

CREATE TRIGGER failure_inserted AFTER INSERT ON failure BEGIN
    UPDATE OR ROLLBACK total SET
        failure_count = failure_count + 1,
        failing_count = failing_count + NOT EXISTS (
            SELECT 1 FROM failure WHERE partition = NEW.partition AND key = NEW.key AND request <> NEW.request
        );
END;

CREATE TRIGGER failure_deleted AFTER DELETE ON failure BEGIN
    UPDATE OR ROLLBACK total SET
        failure_count = failure_count - 1,
        failing_count = failing_count - NOT EXISTS (
            SELECT 1 FROM failure WHERE partition = OLD.partition AND key = OLD.key
        );
END;

-- The views. A column keeps its name, place and meaning; new columns come at the end.

-- Every stored response. Leaves out the entries of ended sessions, whose rows may still be present.
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
    strftime('%Y-%m-%dT%H:%M:%fZ', coalesce(access.accessed_at, entry.created_at) / 1000.0, 'unixepoch')
                                                                        AS accessed_at,
    coalesce(access.hit_count, 0)                                       AS hit_count,
    (
        SELECT CAST(total(failure.error_count) AS INTEGER)
        FROM failure
        WHERE failure.partition = entry.partition AND failure.key = entry.key
    )                                                                   AS error_count,
    entry.id                                                            AS id,
    iif(entry.session IS NULL, 'permanent', 'session')                  AS lifetime,
    entry.is_pinned                                                     AS is_pinned,
    entry.tags                                                          AS tags,
    entry.part_start                                                    AS part_start,
    entry.part_total                                                    AS part_total,
    entry.groups                                                        AS groups,
    entry.head                                                          AS fields
FROM entry
LEFT JOIN access ON access.entry_id = entry.id
WHERE entry.session IS NULL OR entry.session = (SELECT session FROM state);

-- The store in one row. Takes constant time.
CREATE VIEW cache_stats AS
SELECT
    entry_count                         AS entries,
    blob_count                          AS files,
    logical_bytes                       AS logical_bytes,
    physical_bytes                      AS physical_bytes,
    hit_count                           AS hits,
    failing_count                       AS failing_keys,
    damaged_count                       AS damaged_bodies,
    derived_count                       AS derived_bodies,
    derived_bytes                       AS derived_bytes,
    (SELECT iif(eviction_policy = 1, 'value-aware', 'least-recently-used') FROM state) AS eviction_policy
FROM total;

-- One row per host.
CREATE VIEW cache_hosts AS
SELECT
    entry.host                                                          AS host,
    count(*)                                                            AS entries,
    sum(entry.byte_count)                                               AS byte_size,
    sum(coalesce(access.hit_count, 0))                                  AS hits,
    sum(entry.kind = 1)                                                 AS error_responses,
    strftime('%Y-%m-%dT%H:%M:%fZ', max(coalesce(access.accessed_at, entry.created_at)) / 1000.0, 'unixepoch')
                                                                        AS accessed_at
FROM entry
LEFT JOIN access ON access.entry_id = entry.id
GROUP BY entry.host;

-- One row per partition except ''. Takes constant time for each.
CREATE VIEW cache_partitions AS
SELECT
    partition                                                           AS partition,
    entry_count                                                         AS entries,
    byte_count                                                          AS byte_size
FROM partition_total;

-- The answers to requests, one row per host.
CREATE VIEW cache_requests AS
SELECT
    host                                                                AS host,
    hit_count                                                           AS hits,
    stale_count                                                         AS stale,
    revalidated_count                                                   AS revalidated,
    tier_count                                                          AS tier,
    miss_count                                                          AS misses,
    error_count                                                         AS errors,
    strftime('%Y-%m-%dT%H:%M:%fZ', counted_at / 1000.0, 'unixepoch')    AS counted_at
FROM request;

-- Requests whose latest load failed.
CREATE VIEW cache_errors AS
SELECT
    partition                                                           AS partition,
    key                                                                 AS key,
    status                                                              AS status,
    error_count                                                         AS error_count,
    strftime('%Y-%m-%dT%H:%M:%fZ', failed_at / 1000.0, 'unixepoch')     AS failed_at,
    request                                                             AS request
FROM failure;

-- Derived representations of the bodies of entries.
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
WHERE entry.session IS NULL OR entry.session = (SELECT session FROM state);

-- The version of the views.
CREATE VIEW cache_version AS SELECT 1 AS version;
