/* What ring's C names of the C library, for a machine that has neither an NDK nor an SDK. Only declarations: the
   definitions are the phone's own. Not used where the platform's tools are. */
#pragma once
#include <stddef.h>

void *malloc(size_t size);
void free(void *block);
int posix_memalign(void **block, size_t alignment, size_t size);
void abort(void) __attribute__((noreturn));
