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
	taken record;
	trained record;
	type regtype;
BEGIN
	-- only the owner may
	SELECT greatest(c.reltuples, 0), a.atttypid INTO rows, type
	FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = column_name
	WHERE c.oid = relation;
	BEGIN
		SELECT * INTO trained FROM @extschema@.zson_train(relation, column_name, max_examples);
		RAISE SQLSTATE 'ZS000';		-- the dictionary goes
	EXCEPTION WHEN SQLSTATE 'ZS000' THEN
	END;
	EXECUTE format('SELECT count(*) AS rows, count(%1$I) AS documents, sum(pg_column_size(%1$I)) AS bytes FROM %2$s TABLESAMPLE SYSTEM (%3$s)',
		column_name, relation, least(100, 100.0 * max_examples / greatest(rows, 1))) INTO taken;
	documents := round(rows * taken.documents / greatest(taken.rows, 1));
	bytes_now := round(documents * coalesce(taken.bytes, 0) / greatest(taken.documents, 1));
	bytes_estimated := round(documents * CASE WHEN trained.dictionary IS NULL THEN trained.before_bytes ELSE trained.after_bytes END);
	IF bytes_estimated IS NULL THEN
		advice := trained.message;
	ELSIF bytes_estimated > bytes_now * 0.75 THEN
		advice := format('leave: it would be %s %% smaller', round(100 - 100.0 * bytes_estimated / greatest(bytes_now, 1)));
	ELSIF type = '@extschema@.zson'::regtype THEN
		advice := format('SELECT * FROM zson_train(%L, %L); CALL zson_recompress(%1$L, %2$L);', relation, column_name);
	ELSE
		advice := format('SELECT * FROM zson_train(%1$L, %2$L); ALTER TABLE %1$s ALTER %3$s TYPE zson;', relation, column_name, quote_ident(column_name));
	END IF;
END $$;

COMMENT ON FUNCTION zson_estimate(regclass, name, integer) IS
'what the documents of a column of type zson, jsonb, json or text would take as zson: documents, their bytes now, and with a dictionary that
is learned from max_examples of them (1 to 1000000) and measured on others, and the SQL to run. The dictionary is not kept. Counts rows as
ANALYZE did. Only the table''s owner may; not on a standby.';
