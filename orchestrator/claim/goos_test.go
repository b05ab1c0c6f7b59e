package claim_test

import "runtime"

// hasLocks says whether claims of other processes are known.
const hasLocks = runtime.GOOS == "linux"
