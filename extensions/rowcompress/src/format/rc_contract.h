/*-------------------------------------------------------------------------
 *
 * rc_contract.h
 *	  What rowcompress's format tells the vector engine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_CONTRACT_H
#define RC_CONTRACT_H

#include "vx_format.h"

extern const VxFormat rc_contract;

#endif							/* RC_CONTRACT_H */
