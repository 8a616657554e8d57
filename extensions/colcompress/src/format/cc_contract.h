/*-------------------------------------------------------------------------
 *
 * cc_contract.h
 *	  What colcompress's format tells the vector engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_CONTRACT_H
#define CC_CONTRACT_H

#include "vx_format.h"

extern const VxFormat cc_contract;

#endif							/* CC_CONTRACT_H */
