#include "ctestdefaults.h"

#include <stdlib.h>

// Swift Testing starts all test cases at once. On a machine with few cores thousands of them would then share the
// time limits of those that talk to processes and origins. A trait cannot bound them: its wait counts toward a test's
// time limit. The library reads the width from the environment, before its first test, when this has run.
__attribute__((constructor)) static void set_parallelization_width(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", CTESTDEFAULTS_WIDTH, 0);
}
