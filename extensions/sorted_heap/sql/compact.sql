-- ---- compaction, by run_compaction() ----

CREATE OR REPLACE PROCEDURE compact(relation regclass, step_rows integer DEFAULT 2000)
	LANGUAGE plpgsql
	AS $$
BEGIN
	CALL sorted_heap.run_compaction(relation, true, step_rows);
END
$$;

COMMENT ON PROCEDURE compact(regclass, integer) IS
	'moves all rows of a table with a zonemap index (a regclass) to empty pages in key order, online, step_rows rows (1 to 1000000) per transaction, with VACUUM between, and cuts off what is left over; for the owner; not in a transaction block';

CREATE OR REPLACE PROCEDURE merge(relation regclass, step_rows integer DEFAULT 2000)
	LANGUAGE plpgsql
	AS $$
BEGIN
	CALL sorted_heap.run_compaction(relation, false, step_rows);
END
$$;

COMMENT ON PROCEDURE merge(regclass, integer) IS
	'moves rows that are out of order to the page of their key, and rows in their way to other pages, online, as compact() does';

CREATE OR REPLACE PROCEDURE sorted_heap_compact(relation regclass)
	LANGUAGE plpgsql
	AS $$
BEGIN
	CALL sorted_heap.compact(relation);
END
$$;

COMMENT ON PROCEDURE sorted_heap_compact(regclass) IS 'the same as compact()';
