-- What the inspection functions show, and to whom.
CREATE TABLE ins (id int, secret text, d date, n numeric(10,2), j jsonb) USING colcompress;
SELECT colcompress.set_options('ins', row_group_rows => 4096);
SELECT * FROM colcompress.row_groups('ins');
SELECT * FROM colcompress.column_chunks('ins');
SELECT row_groups, row_group_rows, deleted_rows, row_group_bytes FROM colcompress.table_info('ins');
INSERT INTO ins SELECT i, 'secret ' || i % 7, date '2020-01-01' + i % 100, i / 4.0,
	CASE WHEN i % 2 = 0 THEN jsonb_build_object('i', i) END
FROM generate_series(1, 20000) i;

-- row groups cover their extents, in order, without overlap
SELECT count(*) > 1 AS several, min(rows) > 0 AS filled, max(rows) AS most,
	bool_and(pages > 0 AND start_block > 0 AND bytes <= pages * current_setting('block_size')::int) AS sizes,
	bool_and(footer_bytes BETWEEN 1 AND bytes) AS footers,
	max(row_group) = count(*) AS numbered, min(format_version), max(format_version)
FROM colcompress.row_groups('ins');
SELECT count(*) FROM colcompress.row_groups('ins') a, colcompress.row_groups('ins') b
WHERE a.row_group < b.row_group
	AND (a.first_row + a.rows > b.first_row
		OR (a.start_block < b.start_block + b.pages AND b.start_block < a.start_block + a.pages));

-- chunks: one per column and row group; bounds hold the values
SELECT column_name, type, count(*) = (SELECT count(*) FROM colcompress.row_groups('ins')) AS every_group,
	bool_and(encoding <> '' AND codec <> '' AND blocks > 0 AND encoded_bytes > 0 AND raw_bytes > 0) AS filled,
	sum(nulls) AS nulls, max(dictionary_values) AS dictionary
FROM colcompress.column_chunks('ins') GROUP BY attnum, column_name, type ORDER BY attnum;
SELECT (SELECT count(*) FROM ins WHERE j IS NULL)
	= (SELECT sum(nulls) FROM colcompress.column_chunks('ins') WHERE column_name = 'j')
	+ (SELECT count(*) FROM ins WHERE j IS NULL AND id > (SELECT max(max::int) FROM colcompress.column_chunks('ins') WHERE column_name = 'id'))
	+ (SELECT count(*) FROM ins WHERE j IS NULL AND id < (SELECT min(min::int) FROM colcompress.column_chunks('ins') WHERE column_name = 'id')) AS nulls_add_up;
SELECT min(min), max(max) FROM colcompress.column_chunks('ins') WHERE column_name = 'secret';
SELECT min(min::date), max(max::date) FROM colcompress.column_chunks('ins') WHERE column_name = 'd';
SELECT max(max::int) FROM colcompress.column_chunks('ins') WHERE column_name = 'id';

-- the caller's snapshot
BEGIN;
SELECT count(*) AS groups FROM colcompress.row_groups('ins') \gset
DELETE FROM ins WHERE id BETWEEN 10000 AND 10009;
SELECT sum(deleted_rows) FROM colcompress.row_groups('ins');
SELECT deleted_rows FROM colcompress.table_info('ins');
SAVEPOINT s;
INSERT INTO ins SELECT i, 'more' FROM generate_series(1, 12000) i;
SELECT count(*) > :groups AS more FROM colcompress.row_groups('ins');
ROLLBACK TO s;
SELECT count(*) = :groups AS as_before FROM colcompress.row_groups('ins');
ROLLBACK;
SELECT sum(deleted_rows) FROM colcompress.row_groups('ins');

-- totals
SELECT row_group_rows <= 20000 AS rows, deleted_rows,
	row_group_bytes + delta_bytes + current_setting('block_size')::int = total_bytes AS sum,
	total_bytes = pg_relation_size('ins') AS size
FROM colcompress.table_info('ins');
SELECT relation, row_groups > 0 AS groups FROM colcompress.tables WHERE relation = 'ins'::regclass;

-- damage is for the other suites; here all is well
SELECT * FROM colcompress.verify('ins');

-- not a table of ours
CREATE TABLE ins_heap (i int) USING heap;
CREATE TABLE ins_part (i int) PARTITION BY LIST (i);
CREATE VIEW ins_view AS SELECT 1 AS one;
SELECT * FROM colcompress.row_groups('ins_heap');
SELECT * FROM colcompress.column_chunks('ins_part');
SELECT * FROM colcompress.table_info('ins_view');
SELECT * FROM colcompress.verify('pg_class');
SELECT * FROM colcompress.row_groups(0);
SELECT count(*) FROM colcompress.row_groups(NULL);
DROP TABLE ins_heap, ins_part;
DROP VIEW ins_view;

-- privileges: sizes for whoever may read a column, values per column
CREATE ROLE regress_cc_reader;
CREATE ROLE regress_cc_stat IN ROLE pg_stat_scan_tables;
SET ROLE regress_cc_reader;
SELECT * FROM colcompress.row_groups('ins');
SELECT * FROM colcompress.column_chunks('ins');
SELECT * FROM colcompress.table_info('ins');
SELECT * FROM colcompress.verify('ins');
SELECT count(*) FROM colcompress.tables WHERE relation = 'ins'::regclass;
RESET ROLE;
GRANT SELECT (id, d) ON ins TO regress_cc_reader;
SET ROLE regress_cc_reader;
SELECT count(*) > 0 AS some FROM colcompress.row_groups('ins');
SELECT count(*) FROM colcompress.tables WHERE relation = 'ins'::regclass;
SELECT column_name, count(min) > 0 AS min, count(max) > 0 AS max
FROM colcompress.column_chunks('ins') GROUP BY attnum, column_name ORDER BY attnum;
SELECT * FROM colcompress.verify('ins');
SET ROLE regress_cc_stat;
SELECT count(*) > 0 AS some, count(min) AS min FROM colcompress.column_chunks('ins');
RESET ROLE;
GRANT SELECT ON ins TO regress_cc_reader;
ALTER TABLE ins ENABLE ROW LEVEL SECURITY;
CREATE POLICY ins_some ON ins USING (id < 10);
SET ROLE regress_cc_reader;
SELECT count(*) > 0 AS some, count(min) AS min, count(max) AS max FROM colcompress.column_chunks('ins');
RESET ROLE;
SELECT count(min) > 0 AS min, count(max) > 0 AS max FROM colcompress.column_chunks('ins');

DROP TABLE ins;
DROP ROLE regress_cc_reader, regress_cc_stat;
