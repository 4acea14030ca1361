package pgcluster

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// forgetful are the settings of a cluster that need not survive a power cut,
// and whose tables are so small that planning a statement for its values takes
// longer than any plan saves.
var forgetful = []string{
	"fsync=off",
	"synchronous_commit=off",
	"full_page_writes=off",
	"wal_level=minimal",
	"max_wal_senders=0",
	"autovacuum=off",
	"jit=off",
	"plan_cache_mode=force_generic_plan",
}

// shared is the one cluster of this test process that Database uses.
var shared struct {
	once    sync.Once
	cluster *Cluster
	err     error
}

func sharedCluster() (*Cluster, error) {
	shared.once.Do(func() { shared.cluster, shared.err = newCluster(inMemory(), forgetful) })
	return shared.cluster, shared.err
}

// Run runs a package's tests, then stops the cluster that Database started,
// and returns the exit code:
//
//	func TestMain(m *testing.M) { os.Exit(pgcluster.Run(m)) }
//
// Without Run the cluster ends a moment after its process.
func Run(m *testing.M) int {
	code := m.Run()
	if err := dropDoomed(); err != nil {
		fmt.Fprintf(os.Stderr, "drop the tests' databases: %v\n", err)
		code = max(code, 1)
	}
	if shared.cluster == nil {
		return code
	}
	if err := shared.cluster.end(); err != nil {
		fmt.Fprintf(os.Stderr, "stop the tests' PostgreSQL: %v\n", err)
		return max(code, 1)
	}
	return code
}
