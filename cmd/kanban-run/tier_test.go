package main

import "os"

// exhaustive says whether the tests of make check run: every failpoint each time
// that it is reached, hundreds of random kills, boards of thousands of tasks. make
// test takes a sample of them.
func exhaustive() bool { return os.Getenv("KANBAN_TEST_EXHAUSTIVE") != "" }
