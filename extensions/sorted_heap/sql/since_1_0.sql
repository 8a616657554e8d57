-- sorted_heap 1.0 to 1.1
\echo Use "ALTER EXTENSION sorted_heap UPDATE TO '1.1'" to load this file. \quit
