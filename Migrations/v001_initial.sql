-- The first schema. Never edited once released: a change is a new file.
--
-- Times are milliseconds since 1970-01-01T00:00:00Z. Sizes are bytes. The tables may change from version to version;
-- what programs and people should ask are the views at the end.

-- One file below blobs/, named by the SHA-256 of its bytes.
CREATE TABLE blob (
    digest          BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32), -- SHA-256 of the bytes; the file's name
    byte_count      INTEGER NOT NULL CHECK (byte_count > 0),                  -- length of the file
    reference_count INTEGER NOT NULL CHECK (reference_count >= 0)             -- entries whose body this is
) STRICT, WITHOUT ROWID;

-- Finds the files that no entry names any more, and costs nothing while there are none.
CREATE INDEX blob_unreferenced ON blob (digest) WHERE reference_count = 0;

-- One stored response.
CREATE TABLE entry (
    id              INTEGER NOT NULL PRIMARY KEY,       -- names the row in `access`; may be used again after removal
    partition       TEXT    NOT NULL,                   -- user, tenant or site that the entry belongs to; '' for none
    key             TEXT    NOT NULL,                   -- normalised URL, or 'name=' and a name the caller chose
    kind            INTEGER NOT NULL CHECK (kind IN (0, 1)), -- 0 content, 1 error response: one never displaces the other
    variant         TEXT    NOT NULL,                   -- request fields that Vary nominates, a line each; '' for none
    url             TEXT,                               -- where the body came from; NULL when the key says it
    host            TEXT    NOT NULL,                   -- host of the URL, lower case; '' when there is no URL
    status          INTEGER NOT NULL,                   -- HTTP status code
    etag            TEXT,                               -- ETag, verbatim
    last_modified   TEXT,                               -- Last-Modified, verbatim
    content_type    TEXT,                               -- Content-Type, verbatim
    requested_at    INTEGER NOT NULL,                   -- when the request was sent that stored or last validated it
    received_at     INTEGER NOT NULL,                   -- when its response arrived
    expires_at      INTEGER,                            -- when it turns stale; NULL when it is never fresh by itself
    created_at      INTEGER NOT NULL,                   -- when this body was stored; a validation leaves it alone
    is_body_decoded INTEGER NOT NULL CHECK (is_body_decoded IN (0, 1)), -- 1: a content coding was removed on arrival
    byte_count      INTEGER NOT NULL CHECK (byte_count >= 0), -- length of the body
    body            BLOB    REFERENCES blob (digest),   -- digest of the body; NULL when it is empty
    head            TEXT    NOT NULL                    -- response field lines as received, 'Name: value', LF after each
) STRICT;

-- Answers every lookup, keeps entries distinct, and walks prefixes.
CREATE UNIQUE INDEX entry_by_key ON entry (partition, key, kind, variant);

-- Lets eviction take what has expired before what has not.
CREATE INDEX entry_by_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL;

-- Lets eviction walk from the oldest body on.
CREATE INDEX entry_by_creation ON entry (created_at);

-- Finds the entries of a damaged body.
CREATE INDEX entry_by_body ON entry (body) WHERE body IS NOT NULL;

-- When and how often an entry was used. Apart from `entry`, because each use rewrites it and header text should not be.
CREATE TABLE access (
    entry_id    INTEGER NOT NULL PRIMARY KEY REFERENCES entry (id), -- the entry
    accessed_at INTEGER NOT NULL,                                   -- last use
    hit_count   INTEGER NOT NULL                                    -- answers given from it
) STRICT;

-- Least recently used first; the rowid makes it cover the walk of an eviction.
CREATE INDEX access_by_time ON access (accessed_at);

-- Consecutive failures to load a key, since its last success.
CREATE TABLE failure (
    partition   TEXT    NOT NULL, -- as in `entry`
    key         TEXT    NOT NULL, -- as in `entry`
    status      INTEGER NOT NULL, -- HTTP status of the latest failure
    error_count INTEGER NOT NULL, -- failures since the last success
    failed_at   INTEGER NOT NULL, -- time of the latest
    PRIMARY KEY (partition, key)
) STRICT, WITHOUT ROWID;

-- Oldest first, to forget the oldest when there are too many.
CREATE INDEX failure_by_time ON failure (failed_at);

-- Sums over the tables above, kept by the triggers below in the transaction of the change itself: a single row.
CREATE TABLE total (
    id                 INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), -- there is one row
    entry_count        INTEGER NOT NULL, -- rows of entry
    logical_bytes      INTEGER NOT NULL, -- bodies as if nothing were shared
    blob_count         INTEGER NOT NULL, -- rows of blob
    physical_bytes     INTEGER NOT NULL, -- bytes of all blobs
    unreferenced_bytes INTEGER NOT NULL, -- of these, bytes that wait for their file to be deleted
    failure_count      INTEGER NOT NULL, -- rows of failure
    hit_count          INTEGER NOT NULL  -- answers given from entries, removed ones included
) STRICT;

INSERT INTO total VALUES (1, 0, 0, 0, 0, 0, 0, 0);

CREATE TRIGGER entry_inserted AFTER INSERT ON entry BEGIN
    INSERT INTO access VALUES (NEW.id, NEW.created_at, 0);
    INSERT INTO blob SELECT NEW.body, NEW.byte_count, 1 WHERE NEW.body IS NOT NULL
        ON CONFLICT (digest) DO UPDATE SET reference_count = reference_count + 1;
    UPDATE total SET entry_count = entry_count + 1, logical_bytes = logical_bytes + NEW.byte_count;
END;

-- Not below zero: a count that is wrong must not keep entries from being removed.
CREATE TRIGGER entry_deleted AFTER DELETE ON entry BEGIN
    DELETE FROM access WHERE entry_id = OLD.id;
    UPDATE blob SET reference_count = max(0, reference_count - 1) WHERE digest = OLD.body;
    UPDATE total SET entry_count = entry_count - 1, logical_bytes = logical_bytes - OLD.byte_count;
END;

-- The new body first: when both are the same, the count never touches zero.
CREATE TRIGGER entry_body_replaced AFTER UPDATE OF body ON entry BEGIN
    INSERT INTO blob SELECT NEW.body, NEW.byte_count, 1 WHERE NEW.body IS NOT NULL
        ON CONFLICT (digest) DO UPDATE SET reference_count = reference_count + 1;
    UPDATE blob SET reference_count = max(0, reference_count - 1) WHERE digest = OLD.body;
    UPDATE access SET accessed_at = max(accessed_at, NEW.created_at) WHERE entry_id = NEW.id;
    UPDATE total SET logical_bytes = logical_bytes + NEW.byte_count - OLD.byte_count;
END;

CREATE TRIGGER blob_inserted AFTER INSERT ON blob BEGIN
    UPDATE total SET
        blob_count = blob_count + 1,
        physical_bytes = physical_bytes + NEW.byte_count,
        unreferenced_bytes = unreferenced_bytes + iif(NEW.reference_count = 0, NEW.byte_count, 0);
END;

CREATE TRIGGER blob_deleted AFTER DELETE ON blob BEGIN
    UPDATE total SET
        blob_count = blob_count - 1,
        physical_bytes = physical_bytes - OLD.byte_count,
        unreferenced_bytes = unreferenced_bytes - iif(OLD.reference_count = 0, OLD.byte_count, 0);
END;

CREATE TRIGGER blob_released AFTER UPDATE OF reference_count ON blob
WHEN (OLD.reference_count = 0) <> (NEW.reference_count = 0) BEGIN
    UPDATE total SET
        unreferenced_bytes = unreferenced_bytes + iif(NEW.reference_count = 0, NEW.byte_count, -NEW.byte_count);
END;

CREATE TRIGGER failure_inserted AFTER INSERT ON failure BEGIN
    UPDATE total SET failure_count = failure_count + 1;
END;

CREATE TRIGGER failure_deleted AFTER DELETE ON failure BEGIN
    UPDATE total SET failure_count = failure_count - 1;
END;

-- Every stored response, for people and programs.
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
    coalesce(failure.error_count, 0)                                    AS error_count
FROM entry
JOIN access ON access.entry_id = entry.id
LEFT JOIN failure ON failure.partition = entry.partition AND failure.key = entry.key;

-- The store in one row; constant time.
CREATE VIEW cache_stats AS
SELECT
    entry_count                         AS entries,
    blob_count                          AS files,
    logical_bytes                       AS logical_bytes,
    physical_bytes                      AS physical_bytes,
    unreferenced_bytes                  AS unreferenced_bytes,
    hit_count                           AS hits,
    failure_count                       AS failing_keys
FROM total;

-- One row per host.
CREATE VIEW cache_hosts AS
SELECT
    entry.host                                                          AS host,
    count(*)                                                            AS entries,
    sum(entry.byte_count)                                               AS byte_size,
    sum(access.hit_count)                                               AS hits,
    sum(entry.kind = 1)                                                 AS error_responses,
    strftime('%Y-%m-%dT%H:%M:%fZ', max(access.accessed_at) / 1000.0, 'unixepoch') AS accessed_at
FROM entry
JOIN access ON access.entry_id = entry.id
GROUP BY entry.host;

-- What could not be loaded lately.
CREATE VIEW cache_errors AS
SELECT
    partition                                                           AS partition,
    key                                                                 AS key,
    status                                                              AS status,
    error_count                                                         AS error_count,
    strftime('%Y-%m-%dT%H:%M:%fZ', failed_at / 1000.0, 'unixepoch')     AS failed_at
FROM failure;
