-- schedules need pg_cron
\set SHOW_CONTEXT never
CREATE TABLE cs (id int) USING @am@;
SELECT @am@.schedule('cs', '*/5 * * * *');
SELECT @am@.unschedule('cs');
TABLE @am@.jobs;
DROP TABLE cs;
