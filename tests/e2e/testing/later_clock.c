/* For LD_PRELOAD: the program's calendar runs AOT_CLOCK_AHEAD seconds ahead. Monotonic clocks stay. */
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const char* ahead = getenv("AOT_CLOCK_AHEAD");
  const time_t shifted = now.tv_sec + (ahead != NULL ? atol(ahead) : 0);
  if (out != NULL) *out = shifted;
  return shifted;
}
