-- UNIQUE zonemap: what btree enforces.

CREATE TABLE u (id bigint, v int);
CREATE UNIQUE INDEX u_id ON u USING zonemap (id);
INSERT INTO u SELECT g, 0 FROM generate_series(1, 5000) g;
INSERT INTO u VALUES (77, 1);
INSERT INTO u VALUES (5001, 1), (5001, 2);
INSERT INTO u VALUES (NULL, 1), (NULL, 2);
-- in the same transaction, after a rollback, after a delete
BEGIN;
INSERT INTO u VALUES (6000, 1);
SAVEPOINT s;
INSERT INTO u VALUES (6000, 2);
ROLLBACK TO s;
DELETE FROM u WHERE id = 6000;
INSERT INTO u VALUES (6000, 3);
ROLLBACK;
INSERT INTO u VALUES (6000, 4);
SELECT * FROM u WHERE id = 6000;
-- updates
UPDATE u SET id = 78 WHERE id = 77;
UPDATE u SET v = 5 WHERE id = 77;
UPDATE u SET id = id WHERE id BETWEEN 70 AND 80;
UPDATE u SET id = -id WHERE id > 4990;
SELECT count(*) FROM u WHERE id < 0;
COPY u FROM stdin;
10001	1
10002	1
10001	2
\.
SELECT count(*) FROM u WHERE id > 10000;
SELECT * FROM sorted_heap.zonemap_verify('u_id');
VACUUM u;
INSERT INTO u VALUES (77, 1);

-- creation checks what is there
INSERT INTO u VALUES (NULL, 3);
CREATE UNIQUE INDEX u_v ON u USING zonemap (v);
CREATE UNIQUE INDEX CONCURRENTLY u_v ON u USING zonemap (v);
DROP INDEX u_v;
CREATE UNIQUE INDEX CONCURRENTLY u_two ON u USING zonemap (id, v DESC);
REINDEX INDEX CONCURRENTLY u_two;
SELECT * FROM sorted_heap.zonemap_verify('u_two');
DROP INDEX u_two;
CREATE UNIQUE INDEX u_nulls ON u USING zonemap (id) NULLS NOT DISTINCT;
DELETE FROM u WHERE id IS NULL AND v > 1;
CREATE UNIQUE INDEX u_nulls ON u USING zonemap (id) NULLS NOT DISTINCT;
INSERT INTO u VALUES (NULL, 8);

-- equality is the type's: 1.0 is 1.00
CREATE TABLE un (n numeric, f float8);
CREATE UNIQUE INDEX un_n ON un USING zonemap (n);
CREATE UNIQUE INDEX un_f ON un USING zonemap (f);
INSERT INTO un VALUES (1.0, 0), (2.0, 1);
INSERT INTO un VALUES (1.00, 5);
INSERT INTO un VALUES (5, '-0');

-- keys behind the last one: rows that came before the index, greater ones
-- without an entry, ones that were taken back, and a batch with a pair
CREATE TABLE ue (id int);
BEGIN;
INSERT INTO ue VALUES (1), (50), (90);
CREATE UNIQUE INDEX ue_id ON ue USING zonemap (id);
INSERT INTO ue VALUES (60);
INSERT INTO ue VALUES (61);
INSERT INTO ue VALUES (90);
ROLLBACK;
INSERT INTO ue VALUES (1), (50), (90);
BEGIN;
CREATE UNIQUE INDEX ue_id ON ue USING zonemap (id);
INSERT INTO ue VALUES (60);
COMMIT;
VACUUM ue;
INSERT INTO ue VALUES (61), (62);
INSERT INTO ue VALUES (90);
BEGIN;
SAVEPOINT s;
INSERT INTO ue VALUES (95), (97);
ROLLBACK TO s;
INSERT INTO ue VALUES (96);
INSERT INTO ue VALUES (97);
DELETE FROM ue WHERE id = 97;
INSERT INTO ue VALUES (97);
INSERT INTO ue VALUES (96);
ROLLBACK;
COPY ue FROM stdin;
101
103
102
103
\.
COPY ue FROM stdin;
101
103
102
104
\.
INSERT INTO ue VALUES (103);
UPDATE ue SET id = id + 100 WHERE id = 104;
INSERT INTO ue VALUES (203), (205);
INSERT INTO ue VALUES (204);
SELECT id FROM ue ORDER BY id;
SELECT * FROM sorted_heap.zonemap_verify('ue_id');
DROP TABLE ue;

-- marks of one key in several leaves
CREATE TABLE um (k text, n int, pad text) WITH (autovacuum_enabled = off);
ALTER TABLE um ALTER k SET STORAGE EXTERNAL, ALTER pad SET STORAGE PLAIN;
CREATE UNIQUE INDEX um_k ON um USING zonemap (k);
CREATE INDEX ON um (n);
BEGIN;
INSERT INTO um VALUES (repeat('x', 1900), 0, repeat('p', 300));
UPDATE um SET n = n + 1;
UPDATE um SET n = n + 1;
UPDATE um SET n = n + 1;
UPDATE um SET n = n + 1;
UPDATE um SET n = n + 1;
SELECT * FROM sorted_heap.zonemap_verify('um_k');
COMMIT;
\set VERBOSITY terse
INSERT INTO um VALUES (repeat('x', 1900), 6);
\set VERBOSITY default
SELECT left(k, 3), n FROM um;
SELECT * FROM sorted_heap.zonemap_verify('um_k');
DROP TABLE um;

-- replica identity; no constraint
ALTER TABLE u ALTER id SET NOT NULL;
DELETE FROM u WHERE id IS NULL;
ALTER TABLE u ALTER id SET NOT NULL;
ALTER TABLE u REPLICA IDENTITY USING INDEX u_id;
ALTER TABLE u ADD CONSTRAINT u_key UNIQUE USING INDEX u_id;
DROP TABLE u, un;
