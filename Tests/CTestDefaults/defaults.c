#include "ctestdefaults.h"

#include <stdlib.h>

// Swift Testing starts all test cases concurrently. On a machine with few cores, thousands of them would use up the
// time limits of the tests that talk to processes and origins. A trait cannot bound the number: the wait of a trait
// counts toward the time limit, the wait for this width does not. Behind it nearly all cases end within a second, so
// limits of minutes find a test that hangs. The library reads the width from the environment before its first test,
// after this function.
__attribute__((constructor)) static void set_parallelization_width(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", CTESTDEFAULTS_WIDTH, 0);
}
