-- sorted_heap 1.1

\echo Use "CREATE EXTENSION sorted_heap" to load this file. \quit

-- C symbols of released scripts stay (ci/released_symbols.txt): databases made with
-- them go on calling those.

-- ---- index access method zonemap ----

CREATE FUNCTION zonemap_handler(internal) RETURNS index_am_handler
	LANGUAGE C STRICT AS 'MODULE_PATHNAME', 'zm_index_handler';

COMMENT ON FUNCTION zonemap_handler(internal) IS
	'handler of index access method zonemap';

CREATE ACCESS METHOD zonemap TYPE INDEX HANDLER zonemap_handler;

COMMENT ON ACCESS METHOD zonemap IS
	'sparse ordered index: one entry per heap page in key order, one per row elsewhere';

-- ---- table access method sorted_heap ----

CREATE FUNCTION sorted_heap_handler(internal) RETURNS table_am_handler
	LANGUAGE C STRICT AS 'MODULE_PATHNAME', 'zm_table_handler';

COMMENT ON FUNCTION sorted_heap_handler(internal) IS
	'handler of table access method sorted_heap';

CREATE ACCESS METHOD sorted_heap TYPE TABLE HANDLER sorted_heap_handler;

COMMENT ON ACCESS METHOD sorted_heap IS
	'heap whose rows are put where their key belongs, by the table''s zonemap index';

-- ---- operator classes ----

-- Makes the zonemap class of a btree class, in a family of the same name;
-- with the operators between its type and the types that are there already.
CREATE FUNCTION derive_zonemap_opclass(opclass oid, target_schema name) RETURNS void
	LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	class record;
	members text;
	pair record;
BEGIN
	SELECT c.opcname, c.opcintype, c.opcdefault, c.opcfamily, f.opfname
		INTO STRICT class
		FROM pg_opclass c JOIN pg_opfamily f ON f.oid = c.opcfamily
		WHERE c.oid = opclass;
	IF NOT EXISTS (SELECT FROM pg_opfamily f JOIN pg_am a ON a.oid = f.opfmethod
			WHERE a.amname = 'zonemap' AND f.opfname = class.opfname
			AND f.opfnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = target_schema)) THEN
		EXECUTE format('CREATE OPERATOR FAMILY %I.%I USING zonemap',
			target_schema, class.opfname);
	END IF;
	SELECT string_agg(format('OPERATOR %s %s', amopstrategy, amopopr::regoperator), ', ')
		INTO members
		FROM pg_amop
		WHERE amopfamily = class.opcfamily AND amoppurpose = 's'
		AND amoplefttype = class.opcintype AND amoprighttype = class.opcintype;
	SELECT members || format(', FUNCTION 1 %s', amproc::regprocedure)
		INTO STRICT members
		FROM pg_amproc
		WHERE amprocfamily = class.opcfamily AND amprocnum = 1
		AND amproclefttype = class.opcintype AND amprocrighttype = class.opcintype;
	EXECUTE format('CREATE OPERATOR CLASS %I.%I %s FOR TYPE %s USING zonemap FAMILY %I.%I AS %s',
		target_schema, class.opcname,
		CASE WHEN class.opcdefault THEN 'DEFAULT' ELSE '' END,
		format_type(class.opcintype, NULL), target_schema, class.opfname, members);

	FOR pair IN
		SELECT DISTINCT amoplefttype AS l, amoprighttype AS r
		FROM pg_amop o
		WHERE amopfamily = class.opcfamily AND amoplefttype <> amoprighttype
		AND class.opcintype IN (amoplefttype, amoprighttype)
		AND (SELECT count(DISTINCT z.opcintype)
			FROM pg_opclass z JOIN pg_opfamily f ON f.oid = z.opcfamily
			JOIN pg_am a ON a.oid = z.opcmethod
			WHERE a.amname = 'zonemap' AND f.opfname = class.opfname
			AND f.opfnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = target_schema)
			AND z.opcintype IN (o.amoplefttype, o.amoprighttype)) = 2
	LOOP
		SELECT string_agg(format('OPERATOR %s %s', amopstrategy, amopopr::regoperator), ', ')
			INTO members
			FROM pg_amop
			WHERE amopfamily = class.opcfamily AND amoppurpose = 's'
			AND amoplefttype = pair.l AND amoprighttype = pair.r;
		SELECT members || format(', FUNCTION 1 (%s, %s) %s', format_type(pair.l, NULL),
				format_type(pair.r, NULL), amproc::regprocedure)
			INTO STRICT members
			FROM pg_amproc
			WHERE amprocfamily = class.opcfamily AND amprocnum = 1
			AND amproclefttype = pair.l AND amprocrighttype = pair.r;
		EXECUTE format('ALTER OPERATOR FAMILY %I.%I USING zonemap ADD %s',
			target_schema, class.opfname, members);
	END LOOP;
END
$$;

REVOKE ALL ON FUNCTION derive_zonemap_opclass(oid, name) FROM PUBLIC;

COMMENT ON FUNCTION derive_zonemap_opclass(oid, name) IS
	'makes the zonemap operator class of a btree operator class (its OID), in a schema';

CREATE FUNCTION create_zonemap_opclass(type regtype) RETURNS void
	LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp
	AS $$
DECLARE
	class oid;
	schema name;
BEGIN
	SELECT c.oid, n.nspname INTO class, schema
		FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod
		JOIN pg_namespace n ON n.oid = c.opcnamespace
		WHERE a.amname = 'btree' AND c.opcdefault AND c.opcintype = type;
	IF class IS NULL THEN
		RAISE EXCEPTION 'data type % has no default operator class for access method "btree"', type
			USING ERRCODE = 'undefined_object',
			HINT = 'A zonemap needs an order of the type: create a btree operator class first.';
	END IF;
	PERFORM sorted_heap.derive_zonemap_opclass(class,
		CASE schema WHEN 'pg_catalog' THEN 'sorted_heap' ELSE schema END);
END
$$;

COMMENT ON FUNCTION create_zonemap_opclass(regtype) IS
	'makes a zonemap operator class for a type (a regtype) from its default btree operator class; superuser; error undefined_object if the type has none';

-- All of the server's own types, in order, so that a family's first class of
-- a type is the one that counts.
DO $$
DECLARE
	class record;
BEGIN
	FOR class IN
		SELECT DISTINCT ON (c.opcfamily, c.opcintype) c.oid
		FROM pg_catalog.pg_opclass c JOIN pg_catalog.pg_am a ON a.oid = c.opcmethod
		WHERE a.amname = 'btree' AND c.opcnamespace = 'pg_catalog'::regnamespace
		ORDER BY c.opcfamily, c.opcintype, c.opcdefault DESC, c.oid
	LOOP
		PERFORM sorted_heap.derive_zonemap_opclass(class.oid, 'sorted_heap');
	END LOOP;
END
$$;

GRANT USAGE ON SCHEMA sorted_heap TO PUBLIC;

CREATE FUNCTION zonemap_verify(index regclass, OUT block bigint, OUT problem text)
	RETURNS SETOF record
	LANGUAGE C STRICT AS 'MODULE_PATHNAME', 'zm_verify';

COMMENT ON FUNCTION zonemap_verify(regclass) IS
	'problems of a zonemap index (a regclass): its structure, and rows of the table that it does not find once; SHARE lock on the table; for its owner';

CREATE FUNCTION zonemap_stats(index regclass, OUT levels integer, OUT pages bigint,
		OUT leaf_pages bigint, OUT zones bigint, OUT holes bigint,
		OUT exact_entries bigint, OUT marks bigint)
	RETURNS record
	LANGUAGE C STRICT AS 'MODULE_PATHNAME', 'zm_stats';

COMMENT ON FUNCTION zonemap_stats(regclass) IS
	'what a zonemap index (a regclass) consists of: levels, pages, zones, holes, rows with entries of their own, marks; reads the whole index';

-- ---- compaction ----

CREATE PROCEDURE run_compaction(relation regclass, everything boolean, step_rows integer)
	LANGUAGE C AS 'MODULE_PATHNAME', 'zm_compact';

COMMENT ON PROCEDURE run_compaction(regclass, boolean, integer) IS
	'what compact() (everything) and merge() do: moves rows to where their keys belong, step_rows per transaction, with VACUUM between';
