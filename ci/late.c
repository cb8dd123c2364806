/* Threads that start late and end late, as on a busy machine: to be preloaded. Late at its end is a thread whose function has returned,
 * and whose thread-locals are still there: what waits for the function only sees them later. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

struct start {
    void *(*function)(void *);
    void *argument;
};

static void sleep_ms(long ms) {
    struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

/* One in four, another one each time. */
static int chosen(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return ((uint64_t)time.tv_nsec * 0x9e3779b97f4a7c15) >> 62 == 0;
}

static void *late(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    if (chosen())
        sleep_ms(20);
    void *result = start.function(start.argument);
    if (chosen())
        sleep_ms(60);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    struct start *start = malloc(sizeof *start);
    if (!start)
        return EAGAIN;
    start->function = function;
    start->argument = argument;
    int error = create(thread, attributes, late, start);
    if (error)
        free(start);
    return error;
}
