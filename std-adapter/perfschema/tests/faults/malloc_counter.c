/* Counts what threads that ask for it allocate and free, below any allocator of the program: to be preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

static __thread int watched __attribute__((tls_model("initial-exec")));
static unsigned long counted;

void perfschema_watch(int on) { watched = on; }
unsigned long perfschema_counted(void) { return __atomic_load_n(&counted, __ATOMIC_SEQ_CST); }

static void count(void) {
    if (watched)
        __atomic_fetch_add(&counted, 1, __ATOMIC_SEQ_CST);
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size) { count(); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { count(); return __libc_calloc(number, size); }
void *realloc(void *memory, size_t size) { count(); return __libc_realloc(memory, size); }
void *memalign(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
void free(void *memory) { if (memory) count(); __libc_free(memory); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
