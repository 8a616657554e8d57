-- rowcompress's options: what they are, and what they do to what is written
CREATE TABLE ro (id int, t text) USING rowcompress;
SELECT name, value, source, default_value FROM rowcompress.table_options('ro');
SELECT rowcompress.set_options('ro', compression => 'lz4', batch_bytes => 8192, row_group_rows => 5000);
SELECT name, value, source FROM rowcompress.table_options('ro') WHERE source = 'table';
SELECT name, value FROM rowcompress.options WHERE relation = 'ro'::regclass AND source = 'table' ORDER BY name;

INSERT INTO ro SELECT g, 'The same sentence stands in all of these rows, but for the number ' || g || ' and ' || md5((g / 100)::text) FROM generate_series(1, 12000) g;
SELECT row_group, rows FROM rowcompress.row_groups('ro');
-- 8192 bytes of rows: a row counts what heap needs for it
SELECT max(rows) < 150 AS short, sum(rows) FROM rowcompress.batches('ro') WHERE row_group = 1;
SELECT DISTINCT codec FROM rowcompress.column_chunks('ro') WHERE column_name = 't';

-- rewrites use what is set now
SELECT rowcompress.set_options('ro', compression => 'none', batch_bytes => 65536, reset => '{row_group_rows}');
VACUUM FULL ro;
SELECT row_group, rows FROM rowcompress.row_groups('ro');
SELECT max(rows) > 200 AS long FROM rowcompress.batches('ro');
SELECT DISTINCT codec FROM rowcompress.column_chunks('ro');
SELECT count(*), sum(id), count(DISTINCT t) FROM ro;

-- refused
SELECT rowcompress.set_options('ro', batch_bytes => 100);
SELECT rowcompress.set_options('ro', compression => 'gzip');
SELECT rowcompress.set_options('ro', compression => 'lz4', level => 13);
SELECT rowcompress.set_options('ro', compression => 'none', level => 3);
SELECT rowcompress.set_options('ro', orderby => 'nosuch');
SELECT rowcompress.set_options('pg_class', level => 3);
SELECT rowcompress.set_options(NULL);
SELECT name, value FROM rowcompress.table_options('ro') WHERE source = 'table';
SET rowcompress.nosuch = 1;
\set VERBOSITY sqlstate
SET rowcompress.cache_size = '1kB';
\set VERBOSITY default
DROP TABLE ro;
