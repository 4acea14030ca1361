// Package pgcluster gives tests a real PostgreSQL: Database is an empty
// database for one test, Start a whole server that the test may stop, start
// again and kill.
//
// Database uses the server that TEST_DATABASE_URL names, else one throwaway
// cluster for each test process, which is fast because it need not survive a
// power cut. A cluster lives in a folder under /tmp, listens on a socket in that
// folder and nowhere else, and ends with its test process, however that ends.
//
// The package must never be imported by anything but tests, never write to a
// database that it did not make, and never leave a server running.
package pgcluster
