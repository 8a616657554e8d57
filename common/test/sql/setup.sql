-- Helpers of the other suites.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS @am@;
RESET client_min_messages;

-- Rows that one table has and the other has not, compared as text: 'same',
-- or how many there are on each side.
CREATE FUNCTION twin_diff(ours regclass, heap regclass) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	only_ours bigint;
	only_heap bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT t::text FROM %s t EXCEPT ALL SELECT t::text FROM %s t) d',
				   ours, heap) INTO only_ours;
	EXECUTE format('SELECT count(*) FROM (SELECT t::text FROM %s t EXCEPT ALL SELECT t::text FROM %s t) d',
				   heap, ours) INTO only_heap;
	IF only_ours = 0 AND only_heap = 0 THEN
		RETURN 'same';
	END IF;
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
