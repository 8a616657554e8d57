-- Policies of partitioned tables: their surface, and what is refused.  Ages and
-- errors of runs: tests/test_policies.py
\set SHOW_CONTEXT never
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';
CREATE ROLE regress_policy_owner;
SELECT oid::regprocedure FROM pg_proc
WHERE pronamespace = '@am@'::regnamespace AND proname IN ('set_policy', 'remove_policy', 'run_policies', 'health') ORDER BY 1;
GRANT CREATE ON SCHEMA public TO regress_policy_owner;
SET ROLE regress_policy_owner;
CREATE TABLE po (at timestamp NOT NULL, id int) PARTITION BY RANGE (at);
SELECT @am@.set_options('po', auto_compact => false);
CREATE TABLE po_1 PARTITION OF po FOR VALUES FROM (MINVALUE) TO ('2021-01-01') USING heap;
CREATE TABLE po_2 PARTITION OF po FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') USING heap;
CREATE TABLE po_3 PARTITION OF po FOR VALUES FROM ('2022-01-01') TO ('infinity') USING heap;
CREATE TABLE po_4 PARTITION OF po FOR VALUES FROM ('infinity') TO (MAXVALUE) USING heap;
CREATE TABLE po_5 PARTITION OF po DEFAULT USING heap;
INSERT INTO po SELECT timestamp '2020-06-01' + i * interval '1 hour', i FROM generate_series(1, 20000) i;
SELECT * FROM @am@.policy_ranges('po', true) ORDER BY 1;
RESET ROLE;

-- refused
SELECT @am@.set_policy('po');
SELECT @am@.set_policy('po', adopt_after => '-1 day');
SELECT @am@.set_policy('po', adopt_after => '1 year', drop_after => '11 months');
SELECT @am@.set_policy('po_1', adopt_after => '1 year');
SELECT @am@.set_policy(NULL, adopt_after => '1 year');
SELECT @am@.remove_policy('po');
CALL @am@.run_policies('po');
BEGIN;
CALL @am@.run_policies();
ROLLBACK;
SECURITY LABEL FOR @am@ ON TABLE po IS 'adopt_after=soon';

-- set, and shown; not an option like others
SELECT @am@.set_policy('po', adopt_after => '1 year', compact_every => '1 month', orderby => 'id DESC');
SELECT parent, adopt_after, compact_every, orderby, drop_after, owner, last_run, next_run < now() AS due FROM @am@.policies;
SELECT label FROM pg_seclabels WHERE objoid = 'po'::regclass;
SELECT name, value FROM @am@.table_options('po_1') WHERE name IN ('orderby', 'adopt_after');
SELECT @am@.set_options('po', reset => '{all}');
SELECT parent, adopt_after, orderby FROM @am@.policies;
SELECT @am@.policy_setting('po', 'adopt_after'), @am@.policy_setting('po_1', 'adopt_after');

-- run, and run again
CALL @am@.run_policies();
CALL @am@.run_policies('po');
SELECT parent, partition, action, outcome, message, failures FROM @am@.policy_runs ORDER BY partition, action;
SELECT c.relname, a.amname FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.relname LIKE 'po\__' ORDER BY 1;
SELECT count(*), sum(id) FROM po;
SELECT count(*) FROM @am@.health('po') WHERE what <> 'statistics';
SELECT @am@.set_policy('po', drop_after => '2 years', schedule => NULL);
SELECT adopt_after, drop_after, next_run = timestamptz '2021-01-01' + interval '2 years' AS as_due FROM @am@.policies;
CALL @am@.run_policies();
SELECT relid FROM pg_partition_tree('po') WHERE isleaf ORDER BY relid::text;
SELECT partition, action, outcome FROM @am@.policy_runs ORDER BY partition, action;
SELECT @am@.remove_policy('po');
TABLE @am@.policies;

DROP TABLE po;
REVOKE CREATE ON SCHEMA public FROM regress_policy_owner;
RESET timezone;
RESET datestyle;
RESET intervalstyle;
DROP ROLE regress_policy_owner;
