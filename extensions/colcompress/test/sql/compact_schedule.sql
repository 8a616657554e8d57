-- schedules need pg_cron
\set SHOW_CONTEXT never
CREATE TABLE cs (id int) USING colcompress;
SELECT colcompress.schedule('cs', '*/5 * * * *');
SELECT colcompress.unschedule('cs');
TABLE colcompress.jobs;
DROP TABLE cs;
