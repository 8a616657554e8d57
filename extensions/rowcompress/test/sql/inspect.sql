-- what tables are made of, and who may look
CREATE TABLE ins (id int, big int8, n numeric(10,2), t text COLLATE "C", hex text, f float8, d date, b bool, doc text, gone int, nil int)
	USING rowcompress;
ALTER TABLE ins DROP COLUMN gone;
INSERT INTO ins SELECT g, g * 1000000000::int8, g / 4.0, 'value ' || g % 20, md5(g::text), g / 8.0,
	date '2024-01-01' + g / 100, g % 2 = 0, CASE WHEN g % 500 = 0 THEN repeat(md5(g::text), 1000) END, NULL
FROM generate_series(1, 6000) g;
SELECT row_groups, row_group_rows, deleted_rows FROM rowcompress.table_info('ins');
SELECT attnum, column_name, type, encoding, codec, nulls, dictionary_values, min, max
FROM rowcompress.column_chunks('ins');
SELECT sum(rows), min(batch), count(DISTINCT batch) = max(batch) + 1 AS all_numbers FROM rowcompress.batches('ins');
SELECT relation, row_groups, row_group_rows FROM rowcompress.tables WHERE relation = 'ins'::regclass;
DELETE FROM ins WHERE id % 10 = 0;
SELECT rows, deleted_rows FROM rowcompress.row_groups('ins');
SELECT * FROM rowcompress.verify('ins');

-- rights: counts for whoever reads a column, values only of that column
CREATE ROLE regress_rc_reader;
GRANT SELECT (id) ON ins TO regress_rc_reader;
SET ROLE regress_rc_reader;
SELECT column_name, min, max FROM rowcompress.column_chunks('ins') WHERE column_name IN ('id', 'big');
SELECT count(*) FROM rowcompress.verify('ins');
SELECT rowcompress.set_options('ins', level => 5);
RESET ROLE;
REVOKE SELECT (id) ON ins FROM regress_rc_reader;
SET ROLE regress_rc_reader;
SELECT count(*) FROM rowcompress.row_groups('ins');
SELECT count(*) FROM rowcompress.batches('ins');
RESET ROLE;
DROP ROLE regress_rc_reader;
SELECT * FROM rowcompress.row_groups('pg_class');
SELECT * FROM rowcompress.batches('ins') WHERE false;
DROP TABLE ins;
