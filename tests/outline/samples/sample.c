#include <stdio.h>
#define FOO(x) do { x; } while (0)
#define BAR \
   int fake(void) {

struct point { int x, y; };
typedef struct {
    int a;
} thing_t;
enum color { RED, GREEN };
static const char *names[] = { "a{", "b" };
int proto(int a, char *b);
extern "C" {
void inc(void) {}
}
/* int fake2(void) { */
static inline int
foo(int a,
    char *b)
{
    if (a) { return '{'; }
#ifdef X
    if (a > 1) {
#else
    if (a > 2) {
#endif
        return 1;
    }
    return 0;
}

int main(void) { return 0; }
