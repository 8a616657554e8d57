-- ---- from heap and back ----

CREATE FUNCTION adopt(relation regclass, patience interval DEFAULT '1 minute') RETURNS void
	LANGUAGE C STRICT AS 'MODULE_PATHNAME', 'sh_adopt';

COMMENT ON FUNCTION adopt(regclass, interval) IS
	'makes a heap table, or materialized view, a sorted_heap one where it is: only catalogs change. Rows come into order by compact() or merge(), once it has a zonemap. ACCESS EXCLUSIVE for a moment, waited for in short turns, for as long as patience says; undone by a rollback; for the owner';

CREATE PROCEDURE release(relation regclass, patience interval DEFAULT '1 minute')
	LANGUAGE C AS 'MODULE_PATHNAME', 'sh_release';

COMMENT ON PROCEDURE release(regclass, interval) IS
	'makes a heap table of a sorted_heap one, as adopt() the other way; zonemaps stay, rows stay where they are';
