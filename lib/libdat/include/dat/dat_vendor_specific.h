/* SPDX-License-Identifier: MIT */
/*
 * uDAPL 1.2: places for what vendors add. A program chooses one by its macro;
 * none of them has added anything to 1.2.
 */
#ifndef _DAT_VENDOR_SPECIFIC_H_
#define _DAT_VENDOR_SPECIFIC_H_

#if defined(_AMMASSO)
#elif defined(_IBM)
#elif defined(_INFINICON)
#elif defined(_INTEL)
#elif defined(_JNI)
#elif defined(_MELLANOX)
#elif defined(_MYRINET)
#elif defined(_SILIQUENT)
#elif defined(_TOPSPIN)
#elif defined(_VOLTAIRE)
#endif

#endif /* _DAT_VENDOR_SPECIFIC_H_ */
