-- zson_dict 1.0 to 1.1
\echo Use "ALTER EXTENSION zson_dict UPDATE TO '1.1'" to load this file. \quit
