-- large values: apart from the batch, each on its own
CREATE TABLE dc (id int, kind text, doc jsonb, xml text, raw bytea) USING rowcompress;
CREATE TABLE dc_heap (LIKE dc);
-- 1,000 rows that stay in the delta, then compressible documents, and bytes that are not; 8191 and 8192 are the limit
INSERT INTO dc_heap
SELECT g, CASE WHEN g <= 0 THEN 'delta' WHEN g % 3 = 0 THEN 'long' WHEN g % 3 = 1 THEN 'short' ELSE 'none' END,
	CASE WHEN g <= 0 THEN NULL WHEN g % 3 = 0 THEN jsonb_build_object('id', g, 'body', repeat(md5(g::text), 700 + g)) WHEN g % 3 = 1 THEN jsonb_build_object('id', g) END,
	CASE WHEN g <= 0 THEN 'x' WHEN g % 7 = 0 THEN repeat('<a>' || g || '</a>', 3000) ELSE repeat('x', 8189 + g % 5) END,
	CASE WHEN g > 0 AND g % 50 = 0 THEN decode((SELECT string_agg(md5(g || '/' || i), '') FROM generate_series(1, 1300) i), 'hex') END
FROM generate_series(-999, 240) g;
INSERT INTO dc SELECT * FROM dc_heap ORDER BY id;
SELECT rows FROM rowcompress.row_groups('dc');
SELECT twin_diff('dc', 'dc_heap');
SELECT * FROM rowcompress.verify('dc');
-- what does not compress is stored as it is, and never larger to speak of
SELECT column_name, stored_bytes < raw_bytes * 1.01 AS not_larger, stored_bytes > raw_bytes * 0.99 AS as_it_is
FROM rowcompress.column_chunks('dc') WHERE column_name IN ('doc', 'xml', 'raw');

-- point fetch
CREATE INDEX dc_id ON dc (id);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT doc FROM dc WHERE id = 240;
SELECT id, kind, length(doc::text), md5(doc::text) = (SELECT md5(h.doc::text) FROM dc_heap h WHERE h.id = dc.id) AS same FROM dc WHERE id IN (238, 239, 240);
SELECT sum(length(d.xml)), sum(length(d.raw)), bool_and(d.xml = h.xml), bool_and(d.raw IS NOT DISTINCT FROM h.raw)
FROM dc_heap h JOIN LATERAL (SELECT * FROM dc WHERE dc.id = h.id OFFSET 0) d ON true WHERE h.id % 50 IN (0, 1);
RESET enable_seqscan;
RESET enable_bitmapscan;

-- scans that do not look at documents do not read them; conditions on them
SELECT count(*), sum(id) FROM dc WHERE kind = 'long';
SELECT count(*) FROM dc WHERE doc->>'body' LIKE md5('240') || '%';
SELECT count(*) FROM dc WHERE raw > '\xf0';
SELECT count(*) FROM dc_heap WHERE raw > '\xf0';
SELECT twin_do('dc', 'dc_heap', 'UPDATE TBL SET doc = doc || ''{"new": true}'' WHERE id % 5 = 0');
SELECT twin_do('dc', 'dc_heap', 'DELETE FROM TBL WHERE id % 11 = 0');
VACUUM FULL dc;
SELECT twin_diff('dc', 'dc_heap');
SELECT * FROM rowcompress.verify('dc');

-- compaction, too, leaves alone what does not compress
SELECT twin_do('dc', 'dc_heap', 'DELETE FROM TBL WHERE id % 4 = 1');
CALL rowcompress.merge('dc');
SELECT sum(deleted_rows) FROM rowcompress.row_groups('dc');
SELECT twin_diff('dc', 'dc_heap');
SELECT column_name, stored_bytes < raw_bytes * 1.01 AS not_larger, stored_bytes > raw_bytes * 0.99 AS as_it_is
FROM rowcompress.column_chunks('dc') WHERE column_name IN ('doc', 'xml', 'raw');

-- under lz4, and without a codec
SELECT rowcompress.set_options('dc', compression => 'lz4');
VACUUM FULL dc;
SELECT twin_diff('dc', 'dc_heap');
SELECT rowcompress.set_options('dc', compression => 'none');
VACUUM FULL dc;
SELECT twin_diff('dc', 'dc_heap');
SELECT * FROM rowcompress.verify('dc');
DROP TABLE dc, dc_heap;
