/* SPDX-License-Identifier: MIT */
/* In C: between the two switches the thread may be unwound from any instruction. */
#include "device/wait.h"

#include <pthread.h>
#include <sys/ioctl.h>

int rsmdev_wait(int handle, unsigned long request, void *argument)
{
	int before, result;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	result = ioctl(handle, request, argument);
	pthread_setcanceltype(before, &before);
	return result;
}
