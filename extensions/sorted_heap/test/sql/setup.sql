-- Helpers of the other suites.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS sorted_heap;
RESET client_min_messages;

-- Whether a query's rows, in any order, are the same by sequential scan, index
-- scan, bitmap scan and scan of whole pages; their number.
CREATE FUNCTION scans_agree(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	scan text;
	digest text;
	digests text[];
	n bigint;
BEGIN
	FOREACH scan IN ARRAY '{seqscan,indexscan,bitmapscan,pagescan}'::text[] LOOP
		PERFORM set_config('sorted_heap.enable_page_scan', CASE scan WHEN 'pagescan' THEN 'on' ELSE 'off' END, true);
		PERFORM set_config('enable_' || s, CASE WHEN s = replace(scan, 'page', 'index') THEN 'on' ELSE 'off' END, true)
			FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) s;
		EXECUTE format('SELECT count(*), md5(coalesce(string_agg(q::text, '','' ORDER BY q::text), '''')) FROM (%s) q', query)
			INTO n, digest;
		digests := digests || digest;
	END LOOP;
	RETURN n || CASE WHEN digests[1] = ALL (digests) THEN ' rows, same' ELSE ' rows, DIFFERENT' END;
END $$;
