/* SPDX-License-Identifier: MIT */
/* A command that sleeps until another process acts. */
#ifndef RSM_DEVICE_WAIT_H
#define RSM_DEVICE_WAIT_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ioctl(), as a cancellation point: a thread that is cancelled meanwhile ends in it. Like those of
 * the C library it may have taken what it waited for by then.
 */
int rsmdev_wait(int handle, unsigned long request, void *argument);

#ifdef __cplusplus
}
#endif

#endif
