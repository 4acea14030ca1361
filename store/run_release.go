package store

// Actions of a release.
const (
	runReleased         = "run.released"
	runReleaseWithdrawn = "run.release_withdrawn"
)
