# What common/sql/*.sql.in say where extensions differ.
s/@c@/sh/g
