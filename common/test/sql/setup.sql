-- Helpers of the other suites.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS @am@;
RESET client_min_messages;

-- How many rows a table has, and the sum of their hashes.
CREATE FUNCTION twin_sum(tab regclass) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' rows, '' || coalesce(sum(hashtextextended(r, 0)), 0)
		FROM (SELECT (twin.*)::text AS r FROM %s twin OFFSET 0) s', tab) INTO result;
	RETURN result;
END $$;
-- Rows that one table has and the other has not, compared as text: 'same',
-- or how many there are on each side.
CREATE FUNCTION twin_diff(ours regclass, heap regclass) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	only_ours bigint;
	only_heap bigint;
BEGIN
	IF twin_sum(ours) = twin_sum(heap) THEN
		RETURN 'same';
	END IF;
	EXECUTE format('SELECT count(*) FROM (SELECT (twin.*)::text FROM %s twin EXCEPT ALL SELECT (twin.*)::text FROM %s twin) d',
				   ours, heap) INTO only_ours;
	EXECUTE format('SELECT count(*) FROM (SELECT (twin.*)::text FROM %s twin EXCEPT ALL SELECT (twin.*)::text FROM %s twin) d',
				   heap, ours) INTO only_heap;
	RETURN format('%s rows only in %s, %s rows only in %s', only_ours, ours, only_heap, heap);
END $$;

-- Runs a statement with TBL replaced by each table's name; their row counts.
CREATE FUNCTION twin_do(ours regclass, heap regclass, statement text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	m bigint;
BEGIN
	EXECUTE replace(statement, 'TBL', ours::text);
	GET DIAGNOSTICS n = ROW_COUNT;
	EXECUTE replace(statement, 'TBL', heap::text);
	GET DIAGNOSTICS m = ROW_COUNT;
	RETURN CASE WHEN n = m THEN n || ' rows, ' ELSE n || ' against ' || m || ' rows, ' END ||
		twin_diff(ours, heap);
END $$;

-- Compares the rows of a query, with TBL replaced by each table's name; with our plan.
CREATE FUNCTION twin_query(ours regclass, heap regclass, query text, OUT result text, OUT plan text)
LANGUAGE plpgsql AS $$
DECLARE
	q text := format('SELECT r::text FROM (%s) r', query);
	differences bigint;
	nrows bigint;
	line text;
BEGIN
	plan := '';
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE) ' || replace(query, 'TBL', ours::text) LOOP
		plan := plan || line || E'\n';
	END LOOP;
	EXECUTE format('SELECT count(*) FROM (SELECT r, sum(m) AS n FROM (SELECT r, 1 AS m FROM (%s) a (r)
				   UNION ALL SELECT r, -1 FROM (%s) b (r)) c GROUP BY r HAVING sum(m) <> 0) d',
				   replace(q, 'TBL', ours::text), replace(q, 'TBL', heap::text)) INTO differences;
	EXECUTE format('SELECT count(*) FROM (%s) r', replace(q, 'TBL', ours::text)) INTO nrows;
	result := format('%s rows, %s', nrows, CASE differences WHEN 0 THEN 'same' ELSE differences || ' differences' END);
END $$;
