-- ---- what a column would take ----

CREATE FUNCTION zson_estimate(
	relation regclass,
	column_name name,
	max_examples integer DEFAULT 20000,
	OUT documents bigint,
	OUT bytes_now bigint,
	OUT bytes_estimated bigint,
	OUT advice text)
LANGUAGE plpgsql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	rows float8;
	kind "char";
	type regtype;
	trained record;
	taken record;
	name text := quote_ident(column_name);
	train text := format('SELECT * FROM zson_train(%L, %L); ', relation, column_name);
BEGIN
	BEGIN
		-- only the owner may
		SELECT * INTO trained FROM @extschema@.zson_train(relation, column_name, max_examples);
		RAISE SQLSTATE 'ZS000';		-- the dictionary goes
	EXCEPTION WHEN SQLSTATE 'ZS000' THEN
	END;
	SELECT c.reltuples, c.relkind, a.atttypid INTO rows, kind, type
	FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = column_name
	WHERE c.oid = relation;
	EXECUTE format('SELECT count(*)::float8 AS rows, count(%1$s)::float8 AS documents, sum(pg_column_size(%1$s))::float8 AS bytes'
		' FROM %2$s TABLESAMPLE SYSTEM (%3$s)',
		name, relation, least(100, 100.0 * max_examples / greatest(rows, 1))) INTO taken;
	IF rows <= 0 THEN
		rows := taken.rows;			-- all of them: nobody has counted
	END IF;
	documents := rows * taken.documents / greatest(taken.rows, 1);
	bytes_now := rows * taken.bytes / greatest(taken.rows, 1);
	bytes_estimated := documents * CASE WHEN trained.dictionary IS NULL THEN trained.before_bytes ELSE trained.after_bytes END;
	IF bytes_estimated IS NULL OR bytes_now IS NULL THEN
		advice := trained.message;
	ELSIF bytes_estimated > bytes_now * 0.75 THEN
		advice := format('leave: it would be %s %% smaller', round(100 - 100.0 * bytes_estimated / bytes_now));
	ELSIF type = '@extschema@.zson'::regtype THEN
		advice := train || format('CALL zson_recompress(%L, %L);', relation, column_name);
	ELSIF kind = 'm' THEN
		advice := train || 'then make the materialized view with the column as zson';
	ELSE
		advice := train || format('ALTER TABLE %s ALTER %s TYPE zson%s;', relation, name,
			CASE WHEN type NOT IN ('jsonb'::regtype, 'json'::regtype) THEN format(' USING %s::zson', name) END);
	END IF;
END $$;

COMMENT ON FUNCTION zson_estimate(regclass, name, integer) IS
'what the documents of a column of type zson, jsonb, json or text would take as zson: documents, their bytes now, and with a dictionary that
is learned from max_examples of them (1 to 1000000) and measured on others, and the SQL to run. The dictionary is not kept. Counts rows as
ANALYZE did. Only the table''s owner may; not on a standby.';
