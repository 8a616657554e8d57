-- Every way into a table: few rows go to the delta, many to row groups.
CREATE TABLE ld (id int, t text, n numeric(12,2), d date) USING @am@;
CREATE TABLE ld_heap (LIKE ld) USING heap;

-- few rows make no row group
SELECT twin_do('ld', 'ld_heap', $$INSERT INTO TBL VALUES (1, 'one', 1.5, '2020-01-01')$$);
SELECT twin_do('ld', 'ld_heap', $$INSERT INTO TBL VALUES (2, 'two', NULL, NULL), (NULL, NULL, NULL, NULL)$$);
SELECT twin_do('ld', 'ld_heap', $$INSERT INTO TBL SELECT i, 'row ' || i, i / 4.0, date '2020-01-01' + i
	FROM generate_series(3, 50) i$$);
SELECT count(*) FROM @am@.row_groups('ld');

-- many rows make row groups of at most row_group_rows
SELECT @am@.set_options('ld', row_group_rows => 5000);
SELECT twin_do('ld', 'ld_heap', $$INSERT INTO TBL SELECT i, 'row ' || i % 100, i / 4.0, date '2020-01-01' + i % 365
	FROM generate_series(51, 30000) i$$);
SELECT count(*) > 0 AS some, max(rows) AS most, sum(deleted_rows) AS deleted,
	count(DISTINCT first_row) = count(*) AS distinct_groups
FROM @am@.row_groups('ld');
SELECT row_group, column_name, problem FROM @am@.verify('ld');

-- row_group_bytes ends row groups too
CREATE TABLE ld_bytes (t text) USING @am@;
SELECT @am@.set_options('ld_bytes', row_group_bytes => 65536);
INSERT INTO ld_bytes SELECT repeat(md5(i::text), 4) FROM generate_series(1, 20000) i;
SELECT max(rows) < 5000 AS small_groups FROM @am@.row_groups('ld_bytes');
SELECT count(*), count(DISTINCT t), min(length(t)), max(length(t)) FROM ld_bytes;
DROP TABLE ld_bytes;

-- COPY in and out
COPY ld FROM stdin;
100001	copied	1.25	2021-02-03
100002	\N	\N	\N
\.
COPY ld_heap FROM stdin;
100001	copied	1.25	2021-02-03
100002	\N	\N	\N
\.
SELECT twin_diff('ld', 'ld_heap');
COPY ld (t, id) FROM stdin WITH (FORMAT csv);
some,100003
\.
COPY ld_heap (t, id) FROM stdin WITH (FORMAT csv);
some,100003
\.
SELECT twin_diff('ld', 'ld_heap');
COPY (SELECT * FROM ld WHERE id BETWEEN 29998 AND 100001 ORDER BY id) TO stdout;
-- a bad line loses the whole COPY
COPY ld FROM stdin;
100004	x	1	2021-02-03
100005	x	1	not a date
\.
SELECT twin_diff('ld', 'ld_heap');

-- CREATE TABLE AS, SELECT INTO, materialized views
CREATE TABLE ld_as USING @am@ AS SELECT * FROM ld_heap;
SELECT twin_diff('ld_as', 'ld_heap');
SELECT count(*) > 0 AS some FROM @am@.row_groups('ld_as');
CREATE TABLE ld_empty USING @am@ AS SELECT * FROM ld_heap WITH NO DATA;
SELECT count(*) FROM ld_empty;
SELECT count(*) FROM @am@.row_groups('ld_empty');
SET default_table_access_method = @am@;
SELECT * INTO ld_into FROM ld_heap;
RESET default_table_access_method;
SELECT twin_diff('ld_into', 'ld_heap');
CREATE MATERIALIZED VIEW ld_mv USING @am@ AS SELECT id, t FROM ld_heap;
CREATE VIEW ld_mv_heap AS SELECT id, t FROM ld_heap;
SELECT twin_diff('ld_mv', 'ld_mv_heap');
INSERT INTO ld_heap VALUES (200000, 'for the view', 0, NULL);
REFRESH MATERIALIZED VIEW ld_mv;
SELECT twin_diff('ld_mv', 'ld_mv_heap');
INSERT INTO ld SELECT * FROM ld_heap WHERE id = 200000;

-- from itself, more than once in a transaction
BEGIN;
SELECT twin_do('ld', 'ld_heap', 'INSERT INTO TBL SELECT * FROM TBL');
SELECT twin_do('ld', 'ld_heap', 'INSERT INTO TBL SELECT id + 1, t, n, d FROM TBL WHERE id < 20000');
SELECT twin_do('ld', 'ld_heap', $$INSERT INTO TBL VALUES (7, 'seven', 7, NULL)$$);
ROLLBACK;
SELECT twin_diff('ld', 'ld_heap');

-- savepoints
BEGIN;
SELECT twin_do('ld', 'ld_heap', 'INSERT INTO TBL SELECT i, NULL, i, NULL FROM generate_series(1, 12000) i');
SAVEPOINT a;
SELECT twin_do('ld', 'ld_heap', 'INSERT INTO TBL SELECT -i, NULL, i, NULL FROM generate_series(1, 12000) i');
SAVEPOINT b;
SELECT twin_do('ld', 'ld_heap', 'INSERT INTO TBL SELECT 0, NULL, i, NULL FROM generate_series(1, 12000) i');
RELEASE b;
ROLLBACK TO a;
SELECT twin_diff('ld', 'ld_heap');
SELECT twin_do('ld', 'ld_heap', $$INSERT INTO TBL SELECT i, 'after', i, NULL FROM generate_series(1, 12000) i$$);
COMMIT;
SELECT twin_diff('ld', 'ld_heap');
SELECT row_group, column_name, problem FROM @am@.verify('ld');

-- RETURNING, and rows that a trigger changes
INSERT INTO ld VALUES (300000, 'returned', 1, NULL), (300001, 'too', 2, NULL) RETURNING *;
INSERT INTO ld_heap VALUES (300000, 'returned', 1, NULL), (300001, 'too', 2, NULL);
CREATE FUNCTION ld_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF new.id % 2 = 0 THEN
		RETURN NULL;
	END IF;
	new.t := upper(new.t);
	RETURN new;
END $$;
CREATE TRIGGER ld_before BEFORE INSERT ON ld FOR EACH ROW EXECUTE FUNCTION ld_trigger();
CREATE TRIGGER ld_before BEFORE INSERT ON ld_heap FOR EACH ROW EXECUTE FUNCTION ld_trigger();
SELECT twin_do('ld', 'ld_heap', $$INSERT INTO TBL SELECT i, 'trigger', i, NULL FROM generate_series(1, 15000) i$$);

-- values beyond a page
SELECT twin_do('ld', 'ld_heap', $$INSERT INTO TBL SELECT 2 * i + 1, repeat(chr(97 + i), i * 50000), i, NULL
	FROM generate_series(1, 9) i$$);
CREATE TABLE ld_wide USING @am@ AS
	SELECT i, repeat(md5(i::text), 1000) AS t FROM generate_series(1, 1500) i;
SELECT count(*), count(DISTINCT t), sum(length(t)) FROM ld_wide;
SELECT row_group, column_name, problem FROM @am@.verify('ld_wide');

DROP MATERIALIZED VIEW ld_mv;
DROP VIEW ld_mv_heap;
DROP TABLE ld, ld_heap, ld_as, ld_empty, ld_into, ld_wide;
DROP FUNCTION ld_trigger();
