/*-------------------------------------------------------------------------
 *
 * st_note.c
 *	  Entries whose payload has one length, by their keys: what VACUUM and
 *	  compaction note for later ones.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/snapmgr.h"

#include "st_space.h"

bool
st_note_read(StCatalog *cat, StKeyBase base, uint64 row, void *payload,
			 Size len, ItemPointer tid)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	bool		found;

	st_catalog_scan_begin(&scan, cat, base, row, row, SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	found = entry != NULL && entry->len == len;
	if (found)
	{
		memcpy(payload, entry->payload, len);
		*tid = entry->tuple->t_self;
	}
	st_catalog_scan_end(&scan);
	return found;
}

void
st_note_add(StCatalog *cat, StKeyBase base, uint64 row, const void *payload,
			Size len)
{
	st_catalog_insert(cat, base, row, payload, len, GetCurrentCommandId(true),
					  0, NULL);
}
