-- ---- what a table would take ----

CREATE FUNCTION estimate(
	relation regclass,
	OUT what text,
	OUT name text,
	OUT bytes_now bigint,
	OUT bytes_estimated bigint,
	OUT detail text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog, pg_temp
ROWS 10
AS $$
DECLARE
	page constant integer := current_setting('block_size')::integer;
	class record;
	index record;
	zones float8;
	width float8;
	best_bytes bigint;
	best_correlation float8;
	best_needed boolean;
	best_name text;
	best_columns text;
BEGIN
	SELECT c.relkind, am.amname, n.nspname, c.relname INTO class
	FROM pg_class c LEFT JOIN pg_am am ON am.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.oid = relation;
	IF class.relkind NOT IN ('r', 'm') OR class.amname NOT IN ('heap', 'sorted_heap') THEN
		RAISE wrong_object_type USING MESSAGE = format('"%s" is no table of heap or sorted_heap', class.relname);
	ELSIF NOT has_table_privilege(relation, 'SELECT') THEN
		RAISE insufficient_privilege USING MESSAGE = format('permission denied for table %s', class.relname);
	END IF;

	what := 'table';
	name := class.relname;
	bytes_now := pg_table_size(relation);
	bytes_estimated := bytes_now;
	detail := 'rows stay in pages of heap';
	RETURN NEXT;

	what := 'index';
	zones := pg_relation_size(relation) / page;
	FOR index IN
		SELECT i.indexrelid::regclass AS index, pg_relation_size(i.indexrelid) AS bytes, s.correlation, s.avg_width, s.n_distinct,
			i.indisunique OR i.indisreplident OR EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid) AS needed,
			i.indexprs IS NOT NULL OR i.indpred IS NOT NULL OR i.indnatts > i.indnkeyatts AS special,
			(SELECT string_agg(pg_get_indexdef(i.indexrelid, k, true), ', ' ORDER BY k) FROM generate_series(1, i.indnkeyatts) k) AS columns,
			c.reltuples
		FROM pg_index i
			JOIN pg_class c ON c.oid = i.indexrelid
			JOIN pg_am a ON a.oid = c.relam AND a.amname = 'btree'
			LEFT JOIN pg_attribute f ON f.attrelid = i.indrelid AND f.attnum = i.indkey[0]
			LEFT JOIN pg_stats s ON s.schemaname = class.nspname AND s.tablename = class.relname AND s.attname = f.attname
				AND NOT s.inherited
		WHERE i.indrelid = relation AND i.indisvalid
		ORDER BY i.indexrelid::regclass::text
	LOOP
		name := index.index::text;
		bytes_now := index.bytes;
		bytes_estimated := NULL;
		IF index.special THEN
			detail := 'no zonemap has expressions, WHERE or INCLUDE';
		ELSIF index.correlation IS NULL THEN
			detail := 'ANALYZE the table first';
		ELSE
			-- an entry for each page of the table, with its first key and, among equal keys, a row's place
			width := 20 + 8 * ceil(index.avg_width / 8.0);
			IF (CASE WHEN index.n_distinct < 0 THEN -index.n_distinct * index.reltuples ELSE index.n_distinct END) < zones THEN
				width := width + 8;
			END IF;
			bytes_estimated := (2 + ceil(zones * width / (0.9 * page))) * page;
			detail := concat_ws('; ',
				CASE WHEN abs(index.correlation) > 0.95 THEN 'rows are in its order'
					ELSE 'as a zonemap once rows are in its order' END,
				CASE WHEN index.needed THEN 'rows are unique by it: a zonemap stands beside it' END);
			-- nobody's order is given up for another; then one that can go is worth more than one whose
			-- order the rows have, and that more than its size
			IF abs(index.correlation) > 0.5 AND (best_name IS NULL OR (NOT index.needed, abs(index.correlation) > 0.95, index.bytes)
				> (NOT best_needed, best_correlation > 0.95, best_bytes))
			THEN
				best_bytes := index.bytes;
				best_correlation := abs(index.correlation);
				best_needed := index.needed;
				best_name := name;
				best_columns := index.columns;
			END IF;
		END IF;
		RETURN NEXT;
	END LOOP;

	what := 'advice';
	name := 'leave';
	bytes_now := NULL;
	bytes_estimated := NULL;
	detail := 'rows are in the order of no index';
	IF best_name IS NOT NULL THEN
		name := CASE class.amname WHEN 'heap' THEN 'adopt' ELSE 'index' END;
		detail := concat(
			CASE class.amname WHEN 'heap' THEN format('SELECT sorted_heap.adopt(%L); ', relation) END,
			format('CREATE INDEX ON %s USING zonemap (%s);', relation, best_columns),
			CASE WHEN best_correlation <= 0.95 THEN format(' CALL sorted_heap.compact(%L);', relation) END,
			CASE WHEN NOT best_needed THEN format(' DROP INDEX %s;', best_name) END);
	END IF;
	RETURN NEXT;
END $$;

COMMENT ON FUNCTION estimate(regclass) IS
	'what the btrees of a heap or sorted_heap table would take as zonemaps with the rows in their order, by the statistics of ANALYZE: what is "table", "index", and "advice" last, with the SQL to run';
