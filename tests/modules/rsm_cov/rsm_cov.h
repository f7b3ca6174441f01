/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RSM_COV_H
#define RSM_COV_H

#include <linux/compiler.h>

/* The compiler calls it, anywhere: it must not call anything that is instrumented. */
void notrace __sanitizer_cov_trace_pc(void);

#endif /* RSM_COV_H */
