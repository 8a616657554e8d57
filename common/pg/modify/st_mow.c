/*-------------------------------------------------------------------------
 *
 * st_mow.c
 *	  DELETE of many rows of a row group at once.
 *
 * A scan below DELETE that has run all its conditions on a vector knows which
 * rows the command is going to delete (vx_mow.c).  They are deleted here in one
 * go, by one swath (st_swath.c), and not handed out at all.  That is what heap
 * would do if it were so fast that nobody else got a turn between the first and
 * the last of these rows:
 *
 * - nothing is waited for.  A row that somebody has locked or deleted ends the
 *	 swath: it and all rows behind it are left to tuple_delete and to later calls, so that rows are
 *	 locked in the order in which the command comes to them, and none while it
 *	 waits for one that comes before;
 * - a swath is a tuple of the running command, so that the command itself does
 *	 not see it, a later one does, and an abort takes it back.
 *
 * Looking for tombstones, swaths and anchors of the rows and inserting the
 * swath is atomic under the locks of the rows' stretches (st_lock.h), which
 * exclude all row mutexes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/catalog.h"
#include "pgstat.h"
#include "port/pg_bitutils.h"
#include "storage/predicate.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "st_modify.h"
#include "st_mow.h"
#include "st_write.h"

StaticAssertDecl(ST_MOW_ROWS == ST_SWATH_ROWS, "a vector's rows are a swath");

/* A call's rows: bit i of the bitmaps is row first_row + i. */
typedef struct Mow
{
	StRowOp		op;
	const StGroup *group;
	uint64		first_row;
	uint32		first;			/* selected ones are from here */
	uint32		last;			/* to here */
	uint64		rows[ST_MOW_WORDS];
} Mow;

static inline bool
has_bit(const uint64 *bits, uint32 i)
{
	return (bits[i >> 6] & (UINT64CONST(1) << (i & 63))) != 0;
}

static inline void
set_bit(uint64 *bits, uint32 i)
{
	bits[i >> 6] |= UINT64CONST(1) << (i & 63);
}

static uint32
count_bits(const uint64 *bits)
{
	return (uint32) pg_popcount((const char *) bits, ST_MOW_WORDS * sizeof(uint64));
}

bool
st_mow_possible(Relation rel)
{
	return !IsolationIsSerializable() && !IsInParallelMode() &&
		!(RelationIsLogicallyLogged(rel) &&
		  rel->rd_rel->relreplident != REPLICA_IDENTITY_NOTHING);
}

/* Takes row i and all behind it out. */
static void
cut(Mow *m, uint32 i)
{
	m->rows[i >> 6] &= (UINT64CONST(1) << (i & 63)) - 1;
	for (uint32 word = (i >> 6) + 1; word < ST_MOW_WORDS; word++)
		m->rows[word] = 0;
}

/* Sets first and last; false if no row is left. */
static bool
find_ends(Mow *m)
{
	int			low = 0;
	int			high = ST_MOW_WORDS - 1;

	while (low < ST_MOW_WORDS && m->rows[low] == 0)
		low++;
	if (low == ST_MOW_WORDS)
		return false;
	while (m->rows[high] == 0)
		high--;
	m->first = low * 64 + pg_rightmost_one_pos64(m->rows[low]);
	m->last = high * 64 + pg_leftmost_one_pos64(m->rows[high]);
	return true;
}

/* Takes the first row that is not free out, and all behind it. */
static void
cut_at_taken(Mow *m, bool mown)
{
	uint64		taken[ST_TAKEN_WORDS] = {0};

	st_taken_rows(&m->op, m->first_row, m->first_row + m->last, mown, taken);
	for (uint32 i = m->first; i <= m->last; i++)
	{
		if (!has_bit(m->rows, i) || !has_bit(taken, i))
			continue;
		cut(m, i);
		break;
	}
}

/* Makes the swaths: two, where the rows are of two pieces. */
static void
insert_swaths(Mow *m)
{
	uint32		i = m->first;

	while (i <= m->last)
	{
		uint64		off = m->first_row + i - m->group->first_row;
		uint64		piece_end = m->group->first_row + (off / ST_PIECE_ROWS + 1) * ST_PIECE_ROWS;
		StSwath		swath = {.first_row = m->first_row + i};

		for (; i <= m->last && m->first_row + i < piece_end; i++)
		{
			if (!has_bit(m->rows, i))
				continue;
			swath.nrows = (uint32) (m->first_row + i - swath.first_row) + 1;
			set_bit(swath.bits, swath.nrows - 1);
		}
		st_swath_insert(&m->op.catalog, &swath, m->op.cid);
		st_note_mown(m->op.rel, &swath, m->op.cid);
		while (i <= m->last && !has_bit(m->rows, i))
			i++;
	}
}

/* All others are kept from the rows. */
static uint32
mow_locked(Mow *m)
{
	bool		mown = m->group->mown || st_may_be_mown(&m->op.catalog, m->op.row);

	cut_at_taken(m, mown);
	if (!find_ends(m) || count_bits(m->rows) < ST_MOW_LEAST ||
		(!mown && !st_descriptor_mown(&m->op.catalog, m->group)))
		return 0;
	insert_swaths(m);
	return count_bits(m->rows);
}

/* Keeps others away; rows of a vector are in two stretches at most. */
static uint32
mow_group(Mow *m)
{
	uint64		first = m->first_row + m->first;
	uint64		last = m->first_row + m->last;
	bool		two = first / ST_STRETCH_ROWS != last / ST_STRETCH_ROWS;
	uint32		n = 0;

	if (!st_stretch_lock(m->op.rel, first))
		return 0;
	if (!two || st_stretch_lock(m->op.rel, last))
	{
		n = mow_locked(m);
		if (two)
			st_stretch_release(m->op.rel, last);
	}
	st_stretch_release(m->op.rel, first);
	return n;
}

uint32
st_mow(Relation rel, const StGroup *group, uint32 start, uint32 nrows,
	   const uint64 *selection, CommandId cid, uint64 *mown)
{
	Mow			m = {.group = group, .first_row = group->first_row + start};
	ItemPointerData tid;
	TM_FailureData tmfd;
	uint32		n = 0;

	memset(mown, 0, ST_MOW_WORDS * sizeof(uint64));
	memcpy(m.rows, selection, (nrows + 63) / 64 * sizeof(uint64));
	if (!find_ends(&m) || count_bits(m.rows) < ST_MOW_LEAST)
		return 0;

	st_tid_from_row(&tid, m.first_row + m.first);
	st_row_op_begin(&m.op, rel, &tid, cid, &tmfd);
	m.op.mode = LockTupleExclusive;
	m.op.policy = LockWaitSkip;
	m.op.oper = XLTW_Delete;
	if (st_lock_group(&m.op) == TM_Ok)
		n = mow_group(&m);
	st_row_op_end(&m.op);
	if (n == 0)
		return 0;

	memcpy(mown, m.rows, sizeof(m.rows));
	st_delta_grew(rel, n);
	for (uint32 i = 0; i < n; i++)
		pgstat_count_heap_delete(rel);
	return n;
}
