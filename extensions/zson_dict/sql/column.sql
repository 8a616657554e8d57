-- ---- of a column: these ask first whether it is one of zson ----

CREATE FUNCTION zson_dict.zson_column(relation regclass, column_name name) RETURNS void
LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	type oid := (SELECT atttypid FROM pg_attribute
		WHERE attrelid = relation AND attname = column_name AND attnum > 0 AND NOT attisdropped);
	name name := (SELECT relname FROM pg_class c WHERE c.oid = relation);
BEGIN
	IF type IS NULL THEN
		RAISE undefined_column USING MESSAGE = format('column "%s" of relation "%s" does not exist', column_name, name);
	ELSIF type <> '@extschema@.zson'::regtype AND (SELECT typtype FROM pg_type t WHERE t.oid = type) <> 'd' THEN
		RAISE datatype_mismatch USING
			MESSAGE = format('column "%s" of relation "%s" is of type %s, not zson', column_name, name, type::regtype),
			HINT = format('ALTER TABLE %s ALTER %I TYPE zson converts a column of type jsonb.', relation, column_name);
	END IF;
END $$;

COMMENT ON FUNCTION zson_dict.zson_column(regclass, name) IS
'raises an error unless that is a column of type zson, or of a domain';

CREATE OR REPLACE FUNCTION zson_stats(
	relation regclass,
	column_name name,
	OUT dictionary integer,
	OUT documents bigint,
	OUT bytes numeric,
	OUT jsonb_bytes numeric,
	OUT ratio numeric,
	OUT tail_bytes numeric,
	OUT unknown_keys numeric)
RETURNS SETOF record
LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM zson_dict.zson_column(relation, column_name);
	RETURN QUERY EXECUTE pg_catalog.format(
		'SELECT s.dictionary, count(*), round(avg(s.bytes), 1), round(avg(pg_catalog.pg_column_size(c::jsonb)), 1),
			round(sum(s.bytes) / nullif(sum(pg_catalog.pg_column_size(c::jsonb)), 0)::numeric, 3), round(avg(s.tail_bytes), 1),
			round(sum(s.unknown_keys) / nullif(sum(s.keys), 0)::numeric, 4)
		 FROM (SELECT %1$I AS c FROM %2$s WHERE %1$I IS NOT NULL) t, @extschema@.zson_storage(c) s GROUP BY 1 ORDER BY 1 NULLS FIRST',
		column_name, relation);
END $$;

COMMENT ON FUNCTION zson_stats(regclass, name) IS
'reads all documents of a column; for each dictionary in use (null: none): documents, average bytes of one as zson and as jsonb, their ratio,
bytes of compressed strings, share of keys that the dictionary does not know';

CREATE OR REPLACE PROCEDURE zson_recompress(relation regclass, column_name name, batch_pages integer DEFAULT 200)
LANGUAGE plpgsql AS $$
DECLARE
	pages bigint;
	page bigint := 0;
BEGIN
	-- it commits, so it cannot have a search_path of its own
	IF batch_pages OPERATOR(pg_catalog.<) 1 THEN
		RAISE invalid_parameter_value USING MESSAGE = 'batch_pages must be at least 1';
	END IF;
	PERFORM zson_dict.zson_column(relation, column_name);
	pages := pg_catalog.pg_relation_size(relation) OPERATOR(pg_catalog./) pg_catalog.current_setting('block_size')::bigint;
	WHILE page OPERATOR(pg_catalog.<) pages LOOP
		EXECUTE pg_catalog.format(
			'UPDATE %2$s SET %1$I = %1$I::pg_catalog.jsonb::@extschema@.zson
			 WHERE ctid OPERATOR(pg_catalog.>=) ''(%3$s,0)'' AND ctid OPERATOR(pg_catalog.<) ''(%4$s,0)'' AND %1$I IS NOT NULL
			 AND coalesce((@extschema@.zson_storage(%1$I)).dictionary, 0) OPERATOR(pg_catalog.<>) coalesce(@extschema@.zson_target(%1$I), 0)',
			column_name, relation, page, page OPERATOR(pg_catalog.+) batch_pages);
		COMMIT;
		page := page OPERATOR(pg_catalog.+) batch_pages;
	END LOOP;
END $$;

COMMENT ON PROCEDURE zson_recompress(regclass, name, integer) IS
'stores documents anew that another dictionary suits now, some pages at a time, with a commit after each; heap tables.
Cancel it at any time, call it again to go on. It updates rows: VACUUM gives back the space of the old versions.';

CREATE OR REPLACE FUNCTION zson_schedule(relation regclass, column_name name, schedule text) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	job bigint;
BEGIN
	IF NOT EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'pg_cron') THEN
		RAISE undefined_object USING MESSAGE = 'pg_cron is not installed in this database',
			HINT = 'Install it, or run SELECT zson_retrain() from a scheduler of your own.';
	END IF;
	EXECUTE 'SELECT cron.schedule($1, $2, $3)' INTO job
		USING pg_catalog.format('zson %s %I', relation, column_name), schedule,
			pg_catalog.format('SELECT @extschema@.zson_retrain(%L, %L)', relation, column_name);
	RETURN job;
END $$;

COMMENT ON FUNCTION zson_schedule(regclass, name, text) IS
'calls zson_retrain() for a column on a schedule of pg_cron (''0 3 * * 0''); returns the job''s number';

CREATE OR REPLACE FUNCTION zson_unschedule(relation regclass, column_name name) RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	done boolean;
BEGIN
	IF NOT EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'pg_cron') THEN
		RAISE undefined_object USING MESSAGE = 'pg_cron is not installed in this database';
	END IF;
	-- of an unknown name, pg_cron makes an error
	EXECUTE 'SELECT bool_or(cron.unschedule(jobid)) FROM cron.job WHERE jobname = $1' INTO done
		USING pg_catalog.format('zson %s %I', relation, column_name);
	RETURN coalesce(done, false);
END $$;

COMMENT ON FUNCTION zson_unschedule(regclass, name) IS 'ends what zson_schedule() began; false if there is no such job of the current user';
